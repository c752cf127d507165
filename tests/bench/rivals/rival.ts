import { opendirSync } from "node:fs";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { runToExit, startProcess } from "../../support/processes/processes";

/** Another mail server, which sends all email on to the receiving server. */
export type Rival = {
  /** With its version. */
  name: string;
  /** The loopback port at which it accepts email. */
  port: number;
  /** The processes with their children. */
  pids: number[];
  /** Folders whose files are emails that it has not sent, in the order in which an email is moved. */
  queue: string[];
  close(): Promise<void>;
};

/** Connections of the clients, on both sides. */
export const connectionsIn = 32;
/** Connections to the receiving server: as many as a worker has. */
export const connectionsOut = 10;

export type Feed = { port: number; emails: number; bodyBytes: number };

/** Sends emails over kept connections with Postfix's `smtp-source`, until each has its 250. */
export async function feed({ port, emails, bodyBytes }: Feed): Promise<void> {
  const sessions = Math.min(connectionsIn, emails);
  const { code, stderr } = await runToExit(
    await startProcess("/usr/sbin/smtp-source", [
      ...["-d", "-s", String(sessions), "-m", String(emails), "-l", String(bodyBytes)],
      ...["-f", "ann@bench.example", "-t", "reader@customers.example", `127.0.0.1:${port}`],
    ]),
  );
  if (code !== 0) throw new Error(`smtp-source: ${stderr}`);
}

/** Waits until these folders have no files, at any depth. Throws after `maxMs`. */
export async function emptied(folders: readonly string[], maxMs: number): Promise<void> {
  const untilMs = performance.now() + maxMs;
  while (folders.some(hasFile)) {
    if (performance.now() > untilMs) throw new Error(`Email remained in ${folders.join(", ")}.`);
    await wait(25);
  }
}

/** Ends at the first file, because a full queue is asked often. */
function hasFile(folder: string): boolean {
  const open = opendirSync(folder);
  try {
    for (let entry = open.readSync(); entry !== null; entry = open.readSync())
      if (!entry.isDirectory() || hasFile(path.join(folder, entry.name))) return true;
    return false;
  } finally {
    open.closeSync();
  }
}
