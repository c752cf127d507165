import type { Db } from "#db/client";
import { alertCalls } from "#db/schema/audit";
import type { Deps } from "#server/deps";
import { newId } from "#server/platform/ids";
import { deriveKey } from "#server/platform/secrets/secrets";
import { eventPayload } from "../webhooks/events/payload";
import { WEBHOOK_RETRY_AFTER_SECONDS } from "../webhooks/schedule";
import { signatureHeaders } from "../webhooks/signing";
import { type Announcement, alertKind } from "./kinds";

const attemptMsMax = 15_000;
/** Longer than an attempt. After it, another round repeats the attempt of a process that exited. */
const leaseSeconds = 60;
const callsMax = 20;
const responseBytesMax = 1_024;

/** The object of an alert event, of a team's webhook as well as of the installation's. */
export const presentAlert = (
  { home }: Pick<Deps, "home">,
  { id, kind, teamId, subject, name, message, openedAt, resolvedAt }: Announcement,
) => {
  const { severity, title, toDo, page } = alertKind(kind);
  const team = teamId === null ? "" : `${page.includes("?") ? "&" : "?"}team=${teamId}`;
  return {
    id,
    kind,
    severity,
    title,
    subject: { id: subject || null, name: name || null },
    message,
    to_do: toDo,
    url: `${home.url}${page}${team}`,
    opened_at: openedAt,
    resolved_at: resolvedAt,
  };
};

/** Records the requests for alerts of the installation. Reminders are for people only. */
export async function queueAlertCalls(
  tx: Db,
  deps: Pick<Deps, "home" | "clock" | "policy">,
  announced: readonly Announcement[],
): Promise<void> {
  if (deps.policy.alertWebhookUrl === null) return;
  const calls = announced
    .filter(({ teamId, event }) => teamId === null && event !== "reminder")
    .map((each) => ({
      id: newId(),
      payload: eventPayload(`alert.${each.event}`, deps.clock(), presentAlert(deps, each)),
    }));
  if (calls.length > 0) await tx.insert(alertCalls).values(calls);
}

/** The secret that signs these requests, `whsec_…`. It is derived from the installation's secret. */
export const alertWebhookSecret = ({ keyring }: Pick<Deps, "keyring">): string =>
  signingSecret(keyring.active().secret);

const signingSecret = (secret: string): string =>
  `whsec_${Buffer.from(deriveKey(secret, "alert-webhook"), "hex").subarray(0, 24).toString("base64")}`;

type Call = { id: string; payload: string; attempts: number };

/** After the last retry. Requests become so old only while no URL is set. */
const keptSeconds = 2 * WEBHOOK_RETRY_AFTER_SECONDS.reduce((sum, seconds) => sum + seconds, 0);

/**
 * Sends the due requests, with the retries and the signature of webhooks. One that never succeeds is deleted
 * after the last retry, or, without a URL, after twice the time of all retries.
 */
export async function deliverAlertCalls(deps: Deps): Promise<void> {
  const { alertWebhookUrl: webhookUrl } = deps.policy;
  await deps.hot`delete from alert_calls where created_at < now() - ${keptSeconds} * interval '1 second'`;
  if (webhookUrl === null) return;
  const calls = await deps.hot<Call[]>`
    with due as materialized (
      select id from alert_calls where due_at <= now() order by due_at limit ${callsMax} for update skip locked)
    update alert_calls c set attempts = attempts + 1, due_at = now() + ${leaseSeconds} * interval '1 second'
    from due where due.id = c.id returning c.id, c.payload, c.attempts`;
  await Promise.all(calls.map((call) => deliverCall(deps, webhookUrl, call)));
}

async function deliverCall({ hot, outside, keyring, clock, log }: Deps, url: string, call: Call) {
  const { id, payload, attempts } = call;
  const response = await outside.fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "user-agent": "Backstamp-Webhooks/1.0",
      ...signatureHeaders({
        id,
        timestampSeconds: Math.floor(clock().getTime() / 1_000),
        body: payload,
        secrets: [keyring.active(), ...keyring.keys.filter((key) => key !== keyring.active())].map(
          ({ secret }) => signingSecret(secret),
        ),
      }),
    },
    body: payload,
    timeoutMs: attemptMsMax,
    responseBytesMax,
  });
  if (response.kind !== "fault" && response.status >= 200 && response.status < 300) {
    await hot`delete from alert_calls where id = ${id}`;
    return;
  }
  const reason = response.kind === "fault" ? response.fault : String(response.status);
  const waitSeconds = WEBHOOK_RETRY_AFTER_SECONDS[attempts - 1];
  if (waitSeconds === undefined) {
    await hot`delete from alert_calls where id = ${id}`;
    return log.error("alerts.webhook_failed", { id, attempts, reason });
  }
  await hot`update alert_calls set due_at = now() + ${waitSeconds} * interval '1 second' where id = ${id}`;
  log.warn("alerts.webhook_deferred", { id, attempts, reason });
}
