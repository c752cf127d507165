import nodemailer from "nodemailer";
import { startWorker, type Worker } from "#server/delivery/worker";
import { createRelay } from "#server/mail/transport/relay";
import { parseSmtpUrl } from "#server/mail/transport/smtp-url";
import { silentLog } from "#server/platform/log";
import { type Built, buildDeps } from "#server/startup/deps";
import { lowerPriority } from "#server/startup/launcher/lower-priority";
import { settingsFor } from "./bench-database";
import { answerParent, usage } from "./child";
import { emailHtml, recipientOf, SENDER, subjectOf } from "./sample-email";

/** Concurrent emails of the plain loop: more than the pool has connections, so that no connection waits. */
const inFlight = 50;

function relayOf(smtpUrl: string) {
  const read = parseSmtpUrl(smtpUrl);
  if (!read.ok) throw new Error(read.fault);
  return createRelay(read.target, { name: "bench.example" });
}

type Started = { databaseUrl: string; smtpUrl: string | null; env?: Record<string, string> };

let built: Built | undefined;
let worker: Worker | undefined;

const commands = {
  /**
   * Starts the delivery engine like `backstamp worker`. It sends what is due, or parks it without an
   * `SMTP_URL`.
   */
  async startEngine({ databaseUrl, smtpUrl, env }: Started) {
    lowerPriority();
    built ??= buildDeps(settingsFor(databaseUrl, env), { log: silentLog, applicationName: "bench worker" });
    worker = await startWorker({ ...built.deps, transport: smtpUrl === null ? null : relayOf(smtpUrl) });
  },
  async stopEngine() {
    await worker?.stop();
    worker = undefined;
  },
  /** The common code: `sendMail` in a loop over nodemailer's pool. Returns how long it took. */
  async sendPlain({ port, connections, emails }: { port: number; connections: number; emails: number }) {
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
      for (let n = next++; n < emails; n = next++)
        await transport.sendMail({
          from: SENDER,
          to: recipientOf(n),
          subject: subjectOf(n),
          html: emailHtml(n),
          text: "Your order is on its way.",
        });
    };
    const startedMs = performance.now();
    await Promise.all(Array.from({ length: inFlight }, sendOn));
    const tookMs = performance.now() - startedMs;
    transport.close();
    return { tookMs };
  },
  /** Posts a body again and again. Returns how long it took. */
  async postPlain({
    url,
    body,
    connections,
    count,
  }: Record<"url" | "body", string> & Record<"connections" | "count", number>) {
    let left = count;
    const postOn = async () => {
      while (left-- > 0) {
        const response = await fetch(url, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body,
        });
        await response.arrayBuffer();
      }
    };
    const startedMs = performance.now();
    await Promise.all(Array.from({ length: connections }, postOn));
    return { tookMs: performance.now() - startedMs };
  },
  usage,
};
export type DeliverCommands = typeof commands;

answerParent(commands, async () => {
  await worker?.stop();
  await built?.close();
});
