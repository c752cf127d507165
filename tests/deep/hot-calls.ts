import { claimDeliveries, releaseClaims } from "#server/delivery/queue/claims";
import type { WorkerDeps } from "#server/deps";
import type { Outcome } from "#server/mail/outcome";
import { newId } from "#server/platform/ids";
import { acceptedBy, createCountingTransport } from "../support/counting-transport";
import { deliverDue, sendDueEvents } from "../support/pump-engine";
import type { World } from "../support/world";

/** Emails of one round, and about the recipients of its largest batch. */
export const emailsPerRound = 100;

/** Of ten emails one is from a capped domain, one has two recipients, and one has an unsubscribe link. */
const emailOf = (n: number) => ({
  from: n % 10 === 1 ? "ann@capped.example" : "ann@example.org",
  to: n % 10 === 2 ? [addressOf(n), `cc-${addressOf(n)}`] : [addressOf(n)],
  subject: "Hello",
  text: "Hello",
  ...(n % 10 === 5 && { headers: { "List-Unsubscribe": "<https://example.org/unsubscribe>" } }),
});
let rounds = 0;
const addressOf = (n: number) => `${n % 10}-${n}-${rounds}@customers.example`;

/** Of ten recipients one is deferred, and one does not exist. */
function replyTo(recipient: string): Outcome {
  const accepted = acceptedBy(recipient);
  if (recipient.startsWith("3-"))
    return { ...accepted, kind: "deferred", reply: { code: 451, enhanced: null, text: "Later" } };
  if (recipient.startsWith("4-"))
    return { ...accepted, kind: "rejected", reply: { code: 550, enhanced: "5.1.1", text: "No such user" } };
  return accepted;
}

/** Executes every hot statement: accepts, claims, hands over, records, retries, reports and lists. */
export async function executeHotStatements(
  { api, hot, withTransport }: Pick<World, "api" | "hot" | "withTransport">,
  { token, webhookId }: { token: string; webhookId: string },
): Promise<void> {
  rounds++;
  const call = async (method: string, path: string, body?: unknown) => {
    const reply = await api(method, path, { token, ...(body === undefined ? {} : { body }) });
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.text}`);
    return reply.body;
  };
  const { transport } = createCountingTransport("relay", async (recipient) => replyTo(recipient));
  const worker: WorkerDeps = withTransport(transport);
  const { id } = await call("POST", "/api/emails", {
    ...emailOf(0),
    attachments: [{ filename: "a.txt", content: "YQ==" }],
  });
  await call(
    "POST",
    "/api/emails/batch",
    Array.from({ length: emailsPerRound }, (_, n) => emailOf(n)),
  );
  // A worker that died, and one that releases what it cannot send.
  await claimDeliveries(hot, { limit: 20, leaseToken: newId(), forMs: 0 });
  const claims = await claimDeliveries(hot, { limit: 20, leaseToken: newId() });
  await releaseClaims(
    hot,
    claims.map((claim) => ({ ...claim, rule: "destination_throttled" as const })),
  );
  await deliverDue(worker);
  await sendDueEvents(worker);
  await hot.begin(async (tx) => {
    await tx`set local auto_explain.log_min_duration = -1`;
    await tx`update deliveries set due_at = now() where status = 'queued' and due_at > now()`;
  });
  await deliverDue(worker);
  await sendDueEvents(worker);
  for (const path of [
    "/api/emails",
    "/api/emails?status=delivered",
    "/api/emails?recipient=r1@customers.example",
    "/api/email-events",
    "/api/suppressions",
    "/api/logs",
    "/api/webhooks",
    `/api/webhooks/${webhookId}/events`,
    `/api/emails/${id}`,
  ])
    await call("GET", path);
}
