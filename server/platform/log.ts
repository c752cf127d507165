export type Facts = Record<string, unknown>;

/** Structured log: an event name and facts with ids. Never log bodies, addresses, keys or SQL. */
export type Log = {
  info(event: string, facts?: Facts): void;
  warn(event: string, facts?: Facts): void;
  error(event: string, facts?: Facts): void;
};

/**
 * The facts of an error that are safe to log: kind, code and stack lines. The message can contain personal
 * data.
 */
export function errorFacts(error: unknown): Facts {
  if (!(error instanceof Error)) return { kind: typeof error };
  const root = error.cause instanceof Error ? error.cause : error;
  const code = "code" in root ? root.code : undefined;
  const at = error.stack
    ?.split("\n")
    .filter((line) => line.trimStart().startsWith("at "))
    .slice(0, 4);
  const isAway = "isDatabaseAway" in root || DATABASE_AWAY.test(String(code));
  return { kind: root.name, code, at: at?.map((line) => line.trim()), ...(isAway && { database: "away" }) };
}

/** No connection to the database: SQLSTATE classes 08 and 57P0x, 53300, and codes of the driver. */
const DATABASE_AWAY = /^(08|57P0|53300$|CONNECT_TIMEOUT$|CONNECTION_)/;

/** Creates a log that writes one JSON object per line. */
export function createLog(write: (line: string) => void, now: () => Date): Log {
  const at =
    (level: string) =>
    (event: string, facts: Facts = {}) =>
      write(JSON.stringify({ time: now().toISOString(), level, event, ...facts }));
  return { info: at("info"), warn: at("warn"), error: at("error") };
}

/** For tests and tools without log output. */
export const silentLog: Log = { info() {}, warn() {}, error() {} };
