/** Where the checkpoint of a policy stands: beside its file. */
export const checkpointPath = (out: string): string => `${out}.checkpoint`;
