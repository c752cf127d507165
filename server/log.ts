export type Facts = Record<string, unknown>;

/** Logs are facts with ids: an event name and what belongs to it. Never bodies, addresses, keys or SQL. */
export type Log = {
  info(event: string, facts?: Facts): void;
  warn(event: string, facts?: Facts): void;
  error(event: string, facts?: Facts): void;
};

/** What of an error may be logged: its kind, its code and where it came from, never its message, which may hold a person's data. */
export function errorFacts(error: unknown): Facts {
  if (!(error instanceof Error)) return { kind: typeof error };
  const root = error.cause instanceof Error ? error.cause : error;
  const code = "code" in root ? root.code : undefined;
  const at = error.stack
    ?.split("\n")
    .filter((line) => line.trimStart().startsWith("at "))
    .slice(0, 4);
  return { kind: root.name, code, at: at?.map((line) => line.trim()) };
}

/** One JSON object a line, to the given writer. */
export function createLog(write: (line: string) => void, now: () => Date): Log {
  const at =
    (level: string) =>
    (event: string, facts: Facts = {}) =>
      write(JSON.stringify({ time: now().toISOString(), level, event, ...facts }));
  return { info: at("info"), warn: at("warn"), error: at("error") };
}

/** For tests and tools that want no output. */
export const silentLog: Log = { info() {}, warn() {}, error() {} };
