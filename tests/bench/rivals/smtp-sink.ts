import { existsSync } from "node:fs";
import { startProcess } from "../../support/processes/processes";
import { freePort } from "../../support/servers/free-port";
import { waitUntilListening } from "../../support/servers/listening";

/** Debian installs it outside the PATH of normal users. */
const program = "/usr/sbin/smtp-sink";

export type SmtpSink = { port: number; pid: number; close(): Promise<unknown> };

/**
 * Starts Postfix's receiving server, which is written in C and costs least. With `dumpTo`, it writes each
 * message to a file of this folder; otherwise it stores and counts nothing.
 */
export async function startSmtpSink({
  port,
  dumpTo,
}: {
  port?: number;
  dumpTo?: string;
} = {}): Promise<SmtpSink> {
  if (!existsSync(program)) throw new Error("smtp-sink is not installed (Debian: apt-get install postfix)");
  const at = port ?? (await freePort());
  const user = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const dump = dumpTo === undefined ? [] : ["-d", `${dumpTo}/%s-`];
  const sink = await startProcess(program, [...user, ...dump, `127.0.0.1:${at}`, "1024"]);
  await waitUntilListening(at, () => sink.hasExited);
  return { port: at, pid: sink.pid, close: sink.kill };
}
