import { readFile } from "node:fs/promises";
import { startCommandOf } from "#server/platform/env/cli";
import type { Settings } from "#server/platform/env/settings";

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

/** Why a file of the data directory could not be written or opened, and what to do. */
export const explainFile = (error: NodeJS.ErrnoException, dataDir: string): Error => {
  const place = `Set BACKSTAMP_DATA_DIR to a folder on a disk that this user can write to.`;
  const denied = `The data directory ${dataDir} cannot be written: this user is not permitted to. ${place}`;
  return explainByCode(error, {
    EROFS: `The data directory ${dataDir} cannot be written: its disk is mounted read-only. ${place}`,
    EACCES: denied,
    EPERM: denied,
    ENOTDIR: `The data directory ${dataDir} is not a folder. ${place}`,
    EEXIST: `The data directory ${dataDir} is not a folder. ${place}`,
    ENOENT: `The data directory ${dataDir} cannot be created. ${place}`,
    ENOSPC: `The disk of the data directory ${dataDir} is full. Free space on it.`,
    EDQUOT: `The disk quota of the data directory ${dataDir} is used up. Free space there.`,
  });
};

/** Fewer are used up by a few idle connections. */
const openFilesMin = 512;

/** OperatorError if this process may open too few files. Every connection is one. */
export async function requireOpenFiles(): Promise<void> {
  const limits = await readFile("/proc/self/limits", "utf8").catch(() => "");
  const [, limit] = /^Max open files +(\d+)/m.exec(limits) ?? [];
  if (limit === undefined || Number(limit) >= openFilesMin) return;
  throw new OperatorError(
    `This process may open only ${limit} files, and each connection is one. Permit at least ${openFilesMin}, better 65536: ulimit -n, LimitNOFILE= of systemd, or ulimits of Docker.`,
  );
}
