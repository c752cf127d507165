import { beforeAll, expect, test } from "vitest";
import { tick } from "#server/delivery/tick";
import type { Ctx, RestDeps } from "#server/deps";
import { newId } from "#server/platform/ids";
import { rescheduleEmail } from "#server/services/emails/change/change";
import { retryEmail } from "#server/services/emails/change/retry";
import { getEmail } from "#server/services/emails/read/read";
import { inviteMember } from "#server/services/members/invitations/send";
import { createWebhook } from "#server/services/webhooks/endpoints";
import { relayTo } from "../../mail/relay-world";
import { leaseEmail } from "../../support/database/leases";
import { forAllTests } from "../../support/fixtures";
import { startSmtpTestServer } from "../../support/servers/smtp-test-server";
import { createBackupWorld, type Target } from "./backup-world";

const world = forAllTests(() => createBackupWorld());
let target: Target;
let deps: RestDeps;
let ctx: Ctx;
const peer = forAllTests(() => startSmtpTestServer({}));
const ids: Record<"early" | "sending" | "deferred" | "scheduled", string> = {} as never;
beforeAll(async () => {
  const { source } = world;
  const send = async (name: string, scheduledAt: string | null = null) =>
    (await source.send({ to: [`${name}@example.net`], subject: name, scheduledAt })).id;
  ids.early = await send("early");
  await source.hot`update emails set created_at = now() - interval '1 hour' where id = ${ids.early}`;
  ids.sending = await send("sending");
  ids.deferred = await send("deferred");
  ids.scheduled = await send("scheduled", "in 2 hours");
  const sent = await send("sent");
  await source.hot`update deliveries set status = 'sent' where email_id = ${sent}`;
  await source.hot`update emails set status = 'sent' where id = ${sent}`;
  await leaseEmail(source.hot, ids.sending);
  await source.hot`update emails set status = 'sending' where id = ${ids.sending}`;
  await source.hot`
    update deliveries set attempts = 1, wait_rule = 'retry_schedule' where email_id = ${ids.deferred}`;
  await source.hot`update emails set status = 'deferred' where id = ${ids.deferred}`;
  await source.hot`
    insert into system_mails (id, kind, recipient, details, expires_at, message_id)
    values (${newId()}, 'invitation', 'ben@example.com', 'sealed', now() + interval '1 day', 'm@example.com')`;
  await inviteMember(source.ctx, { email: "cleo@example.com", role: "member" });
  await createWebhook(source.ctx, { url: "https://example.com/hook", events: ["email.unknown"] } as never);
  const userId = newId();
  await source.hot`insert into users (id, email) values (${userId}, 'ann@example.com')`;
  await source.hot`
    insert into sessions (id, user_id, expires_at) values (${newId()}, ${userId}, now() + interval '1 day')`;
  const file = await world.backUp("held.tar.gz");
  target = await world.target();
  const restored = await target.backstamp(["restore", file]);
  expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining("HELD: 3 deliveries") });
  deps = target.open({ transportKind: "relay" }).deps;
  expect(restored.stdout).toContain("UNKNOWN outcome: 1 delivery, which");
  ctx = { ...source.ctx, ...deps };
});

async function deliver(): Promise<string[]> {
  const transport = relayTo(peer);
  await tick({ ...deps, transport }, { budgetMs: 10_000 });
  await transport.close();
  return peer.messages.flatMap(({ to }) => to);
}
const statusesOf = async () =>
  Object.fromEntries(
    (await deps.hot`select subject, status from emails order by id`).map(({ subject, status }) => [
      subject,
      status,
    ]),
  );

test("nothing that was queued, scheduled or sending is sent, and new email is", async () => {
  await deps.hot`update deliveries set updated_at = now() - interval '1 day'`;
  await world.source.send({ to: ["new@example.net"], subject: "new" }, ctx);
  expect(await deliver()).toEqual(["new@example.net"]);
  expect(await statusesOf()).toEqual({
    early: "queued",
    sending: "unknown",
    deferred: "deferred",
    scheduled: "scheduled",
    sent: "sent",
    new: "sent",
  });
  const email = await getEmail(ctx, ids.early);
  expect(email.deliveries).toMatchObject([{ status: "queued", waitRule: "restored" }]);
});

test("the outcome of a dialogue in progress is unknown, and its event follows those of the backup", async () => {
  const { deliveries, events } = await getEmail(ctx, ids.sending);
  expect(deliveries).toMatchObject([{ status: "unknown", waitRule: null }]);
  expect(events.at(-1)).toMatchObject({ type: "email.unknown", data: { attempt: 1, policy: "hold" } });
  expect(await deps.hot`select type, status from webhook_deliveries where email_id = ${ids.sending}`).toEqual(
    [{ type: "email.unknown", status: "pending" }],
  );
  const [feed] = await deps.hot`
    select bool_and(u.position > e.position) as "isLast" from email_events e, email_events u
    where u.type = 'email.unknown' and e.type <> u.type and e.created_at < u.created_at`;
  expect(feed).toEqual({ isLast: true });
});

test("a pending invitation has expired, because it could have been withdrawn since", async () => {
  const [pending] = await deps.hot`
    select expires_at <= now() as "isExpired", revoked_at from invitations where accepted_at is null`;
  expect(pending).toEqual({ isExpired: true, revoked_at: null });
});

test("neither a retry nor a new time releases held email", async () => {
  await expect(retryEmail(ctx, ids.deferred, true)).rejects.toThrow(/restored from a backup/);
  await rescheduleEmail(ctx, ids.scheduled, "in 1 hour");
  const rows = await deps.hot`select from deliveries where wait_rule = 'restored' and due_at = 'infinity'`;
  expect(rows).toHaveLength(3);
});

test("pending system email is not sent, and sessions have ended", async () => {
  expect(await deps.hot`select distinct status, details from system_mails`).toEqual([
    { status: "failed", details: null },
  ]);
  expect(await deps.hot`select from sessions where revoked_at is null`).toHaveLength(0);
});

test("the operator releases email by the time of its acceptance, and cancels the rest", async () => {
  expect(await target.backstamp(["release"])).toMatchObject({ code: 0, stdout: "3 deliveries are held.\n" });
  const both = await target.backstamp(["release", "--all", "--none"]);
  expect(both).toMatchObject({ code: 1, stderr: expect.stringContaining("Use one of") });
  const later = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
  const scheduledLater = await target.backstamp(["release", "--scheduled-after", later(50)]);
  expect(scheduledLater).toMatchObject({ code: 0, stdout: "Released 1 delivery. 2 deliveries are held.\n" });
  const none = await target.backstamp(["release", "--scheduled-after", later(-50)]);
  expect(none).toMatchObject({ code: 0, stdout: "Released 0 deliveries. 2 deliveries are held.\n" });
  const since = new Date(Date.now() - 30 * 60_000).toISOString();
  const released = await target.backstamp(["release", "--accepted-after", since]);
  expect(released).toMatchObject({ code: 0, stdout: "Released 1 delivery. 1 delivery is held.\n" });
  expect((await deliver()).sort()).toEqual(["deferred@example.net", "new@example.net"]);
  const [scheduled] = await deps.hot`
    select d.wait_rule, d.due_at = e.scheduled_at as "isOnTime" from deliveries d join emails e on e.id = d.email_id
    where e.id = ${ids.scheduled}`;
  expect(scheduled).toEqual({ wait_rule: null, isOnTime: true });

  expect(await target.backstamp(["release", "--none", "--json"])).toMatchObject({ code: 0 });
  expect(await statusesOf()).toMatchObject({ early: "canceled", scheduled: "scheduled", sending: "unknown" });
  const email = await getEmail(ctx, ids.early);
  expect(email.events.at(-1)).toMatchObject({
    type: "email.canceled",
    data: { reason: expect.stringContaining("restored from a backup") },
  });
  const actions = await deps.hot`select action from audit_log where action like 'email.%' order by id`;
  expect(actions.map(({ action }) => action)).toEqual([
    "email.rescheduled",
    "email.released",
    "email.released",
    "email.held_canceled",
  ]);
  expect(peer.messages).toHaveLength(2);
});
