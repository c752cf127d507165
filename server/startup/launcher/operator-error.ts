import type { Settings } from "#server/platform/env/settings";
import type { Holder } from "./lock";

/** An error that the operator can fix. Only its message is shown, without a stack trace. */
export class OperatorError extends Error {
  override name = "OperatorError";
}

type Place = Pick<Settings, "mode" | "host" | "port" | "dataDir">;

const commandOf = ({ mode }: Place): string => (mode === "dev" ? "npm run dev" : "npm start");

/** Why the port could not be bound, and what to do. */
export function explainListen(error: NodeJS.ErrnoException, place: Place): Error {
  const { host, port } = place;
  const other = `PORT=${port < 65_535 ? port + 1 : 3000} ${commandOf(place)}`;
  switch (error.code) {
    case "EADDRINUSE":
      return new OperatorError(
        `Port ${port} on ${host} is in use by another program. Stop that program, or use another port: ${other}`,
        { cause: error },
      );
    case "EACCES":
      return new OperatorError(
        `This user is not permitted to listen on port ${port}. Use a port above 1023: PORT=3000 ${commandOf(place)}`,
        {
          cause: error,
        },
      );
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return new OperatorError(
        `HOST: "${host}" is not an address of this machine. Set 127.0.0.1, or 0.0.0.0 for all addresses.`,
        {
          cause: error,
        },
      );
    default:
      return error;
  }
}

/** Names the process that uses the data directory, and what to do. */
export function explainHolder({ pid, purpose, url }: Holder, place: Place): OperatorError {
  const where = url ? `at ${url}` : "is starting";
  return new OperatorError(
    `Backstamp is already running with this data directory (${place.dataDir}): process ${pid} (${purpose}) ${where}.\n` +
      `Use that process, or stop it first: kill ${pid}`,
  );
}
