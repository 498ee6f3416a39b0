/** One line of JSON for everything worth knowing, and nothing in it about a person. */

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
type Fields = Readonly<Record<string, string | number | boolean | null | readonly string[] | undefined>>;

export interface Log {
  readonly debug: (message: string, fields?: Fields) => void;
  readonly info: (message: string, fields?: Fields) => void;
  readonly warn: (message: string, fields?: Fields) => void;
  readonly error: (message: string, fields?: Fields) => void;
}

export const jsonLog = (
  write: (line: string) => void,
  level: LogLevel = "info",
  clock: () => number = Date.now,
): Log => {
  const at =
    (own: Exclude<LogLevel, "silent">) =>
    (message: string, fields: Fields = {}) => {
      if (LOG_LEVELS.indexOf(own) < LOG_LEVELS.indexOf(level)) return;
      write(`${JSON.stringify({ time: new Date(clock()).toISOString(), level: own, message, ...fields })}\n`);
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
};

/** What may be said of a failure that nobody expected: where it was, not what it says, which may quote data. */
export const failureFields = (error: unknown): Fields =>
  error instanceof Error
    ? {
        error: error.name,
        code: "code" in error ? String(error.code) : undefined,
        where: (error.stack ?? "")
          .split("\n")
          .filter((line) => /^\s+at /.test(line))
          .slice(0, 8)
          .map((line) => line.trim()),
      }
    : { error: typeof error };
