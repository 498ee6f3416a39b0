/** Tasks of the design screen. */
export const designTasks = {};
