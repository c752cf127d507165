import { startCommandOf } from "#server/platform/env/cli";
import type { Settings } from "#server/platform/env/settings";
import type { Holder } from "./lock";

/** An error that the operator can fix. Only its message is shown, without a stack trace. */
export class OperatorError extends Error {
  override name = "OperatorError";
}

type Place = Pick<Settings, "mode" | "host" | "port" | "dataDir">;

/** Why the port could not be bound, and what to do. */
export function explainListen(error: NodeJS.ErrnoException, place: Place): Error {
  const { host, port } = place;
  const other = `PORT=${port < 65_535 ? port + 1 : 3000} ${startCommandOf(place.mode)}`;
  const notHere = `HOST: "${host}" is not an address of this machine. Set 127.0.0.1, or 0.0.0.0 for all addresses.`;
  return explainByCode(error, {
    EADDRINUSE: `Port ${port} on ${host} is in use by another program. Stop that program, or use another port: ${other}`,
    EACCES: `This user is not permitted to listen on port ${port}. Use a port above 1023: PORT=3000 ${startCommandOf(place.mode)}`,
    EADDRNOTAVAIL: notHere,
    ENOTFOUND: notHere,
    EAI_AGAIN: notHere,
  });
}

/**
 * An OperatorError with the message for the code of a system error. Returns an error with another code
 * unchanged.
 */
export function explainByCode(error: NodeJS.ErrnoException, messages: Record<string, string>): Error {
  const message = messages[error.code ?? ""];
  return message === undefined ? error : new OperatorError(message, { cause: error });
}

/** Names the process that uses the data directory, and what to do. */
export function explainHolder({ pid, purpose, url }: Holder, place: Place): OperatorError {
  const where = url ? `at ${url}` : "is starting";
  return new OperatorError(
    `Backstamp is already running with this data directory (${place.dataDir}): process ${pid} (${purpose}) ${where}.\n` +
      `Use that process, or stop it first: kill ${pid}`,
  );
}
