/** Where a table is kept while it is read: in the reader's own memory, or in a database file for another process. */
export type AnswerPlace = "temp" | "answer";

/** The database file that a process of its own fills is called this in SQL, there and where it is read. */
export const ANSWER = "answer";

export const createTable = (place: AnswerPlace, table: string): string =>
  place === "temp" ? `CREATE TEMP TABLE ${table}` : `CREATE TABLE ${nameIn(place, table)}`;

export const nameIn = (place: AnswerPlace, table: string): string => `${place}.main.${table}`;
