import nodemailer from "nodemailer";
import { type Built, buildDeps } from "#server/boot/deps";
import { stepBack } from "#server/boot/step-back";
import { silentLog } from "#server/log";
import { createRelay } from "#server/mail/transport/relay";
import { parseSmtpUrl } from "#server/mail/transport/smtp-url";
import { startWorker, type Worker } from "#server/worker/loop";
import { answerParent, usage } from "./child";
import { letterHtml, recipientOf, SENDER, subjectOf } from "./letter";
import { settingsFor } from "./place";

/** Mails under way at once in the plain loop: more than the pool has connections, so that none of them waits. */
const inFlight = 50;

let built: Built | undefined;
let worker: Worker | undefined;

const commands = {
  /** Starts the delivery engine as `posthorn worker` does; it takes what is due. */
  async startEngine({ databaseUrl, smtpUrl }: { databaseUrl: string; smtpUrl: string }) {
    stepBack();
    built ??= buildDeps(settingsFor(databaseUrl), { log: silentLog, applicationName: "bench worker" });
    const read = parseSmtpUrl(smtpUrl);
    if (!read.ok) throw new Error(read.fault);
    worker = await startWorker({
      ...built.deps,
      transport: createRelay(read.target, { name: "bench.example" }),
    });
  },
  async stopEngine() {
    await worker?.stop();
    worker = undefined;
  },
  /** What everybody would write: `sendMail` in a loop over nodemailer's own pool. Tells how long it took. */
  async sendPlain({ port, connections, mails }: { port: number; connections: number; mails: number }) {
    const transport = nodemailer.createTransport({
      host: "127.0.0.1",
      port,
      ignoreTLS: true,
      pool: true,
      maxConnections: connections,
      maxMessages: Number.POSITIVE_INFINITY,
    });
    let next = 0;
    const sendOn = async () => {
      for (let n = next++; n < mails; n = next++)
        await transport.sendMail({
          from: SENDER,
          to: recipientOf(n),
          subject: subjectOf(n),
          html: letterHtml(n),
          text: "Your order is on its way.",
        });
    };
    const startedMs = performance.now();
    await Promise.all(Array.from({ length: inFlight }, sendOn));
    const tookMs = performance.now() - startedMs;
    transport.close();
    return { tookMs };
  },
  usage,
};
export type DeliverCommands = typeof commands;

answerParent(commands, async () => {
  await worker?.stop();
  await built?.close();
});
