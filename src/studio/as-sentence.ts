/** What a workflow says of a failure, as a sentence that others may follow. */
export const asSentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
