import { mkdtemp } from "node:fs/promises";
import path from "node:path";
import type { Place } from "../bench-database";
import { type Line, plainLine } from "../report";
import { type Kind, openBackstamp } from "./backstamp";
import { type Captured, captureEach, measureSigning, withoutHeader } from "./captured";
import { OTHERS } from "./others";
import { comparePaths } from "./paths";
import { startPostfixRival } from "./postfix";
import { compareQueues } from "./queues";
import { emptied, feed, type Rival } from "./rival";
import { startSmtpSink } from "./smtp-sink";
import { compareSubmission } from "./submission";

const captureMaxMs = 10_000;

/**
 * Other mail servers beside Backstamp on this machine, all sending to the same `smtp-sink`: accepting and
 * sending, sending a full queue, and accepting over SMTP. One that cannot be started has a line with the
 * reason.
 */
export async function measureRivals(place: Place): Promise<Line[]> {
  const closing: (() => Promise<unknown>)[] = [];
  const closeLater = <T extends { close(): Promise<unknown> }>(opened: T): T => {
    closing.push(opened.close);
    return opened;
  };
  try {
    const { folder } = place;
    const captured = await mkdtemp(path.join(folder, "captured-"));
    const dumping = closeLater(await startSmtpSink({ dumpTo: captured }));
    const { port } = dumping;
    const postfix = closeLater(await startPostfixRival(folder, port));
    const rivals: Rival[] = [postfix];
    const missing: Line[] = [];
    const addMissing = (name: string, reason: unknown) =>
      missing.push(plainLine(`beside ${name}`, `not measured: ${String(reason)}`));
    if (typeof postfix.signed === "string") addMissing("Postfix with OpenDKIM", postfix.signed);
    else rivals.push(postfix.signed);
    await Promise.all(
      Object.entries(OTHERS).map(async ([name, start]) => {
        try {
          rivals.push(closeLater(await start(folder, port)));
        } catch (error) {
          addMissing(name, error);
        }
      }),
    );
    const backstamp = closeLater(await openBackstamp(place, port));
    await backstamp.startWorker();

    const ownSide = (kind: Kind, signatures: number): Captured => ({
      name: `Backstamp, ${kind}`,
      signatures,
      async send() {
        await backstamp.accept(kind, 1);
        await backstamp.drained();
      },
    });
    const sideOf = (rival: Rival): Captured => ({
      name: rival.name,
      signatures: rival === postfix.signed ? 1 : 0,
      async send() {
        await feed({ port: rival.port, emails: 1, bodyBytes: 1_000 });
        await emptied(rival.queue, captureMaxMs);
      },
    });
    const sides = [ownSide("unsigned", 0), ownSide("signed", 2), ...rivals.map(sideOf)];
    const [message = ""] = await captureEach(captured, sides);
    await dumping.close();
    const { pid: sinkPid } = closeLater(await startSmtpSink({ port }));

    const bodyBytes = withoutHeader(message).length;
    const compared = { backstamp, postfix, rivals, bodyBytes, sinkPid };
    const paths = await comparePaths(compared);
    await backstamp.stopWorker();
    return [
      plainLine("body of each email: 3 KB of HTML, composed with its text", `${bodyBytes} bytes`),
      ...paths,
      await measureSigning(message),
      ...(await compareQueues(compared)),
      await compareSubmission({ backstamp, postfix, message }),
      ...missing,
    ];
  } finally {
    for (const close of closing.reverse()) await close();
  }
}
