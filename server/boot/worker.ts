import type { HotSql } from "#db/client";
import type { Log } from "#server/log";
import { createRelay } from "#server/mail/transport/relay";
import { parseSmtpUrl } from "#server/mail/transport/smtp-url";
import type { Transport } from "#server/mail/transport/transport";
import { createCapture } from "#server/worker/capture";
import { startWorker } from "#server/worker/loop";
import { buildDeps, type ConnectedSettings } from "./deps";

/** A delivery loop with connections of its own; `stop` drains it within 25 s. */
export type RunningWorker = {
  /** Settles when it works, or when that takes longer than anybody should wait. Never rejects. */
  started: Promise<void>;
  stop(): Promise<void>;
};

/** Starts the delivery loop in this process, sending by `SMTP_URL`. */
export async function runWorker(
  settings: ConnectedSettings,
  options: { log?: Log } = {},
): Promise<RunningWorker> {
  const built = buildDeps(settings, { ...options, applicationName: "posthorn worker" });
  const transport = openTransport(settings, built.deps.hot);
  const worker = await startWorker({ ...built.deps, transport });
  return {
    started: Promise.resolve(),
    async stop() {
      await worker.stop();
      await built.close();
    },
  };
}

/** The way out that `SMTP_URL` names; null where real recipients wait. */
export function openTransport(
  settings: Pick<ConnectedSettings, "smtpUrl" | "hostname">,
  hot: HotSql,
): Transport | null {
  if (settings.smtpUrl === null) return null;
  if (settings.smtpUrl === "capture:") return createCapture(hot);
  const read = parseSmtpUrl(settings.smtpUrl);
  if (!read.ok) throw new Error(`SMTP_URL: ${read.fault}`);
  return createRelay(read.target, { name: settings.hostname });
}
