/** Workgroups along one dimension: every adapter takes so many, and kernels with more to do go round again. */
export const MOST_GROUPS = 65535;

export const groupsFor = (threads: number, workgroup: number): number =>
  Math.min(MOST_GROUPS, Math.ceil(threads / workgroup));
