import { expect, test } from "vitest";
import { countNewEvents } from "#server/delivery/housekeeping/count-events";
import { evaluateAlerts } from "#server/services/alerts/evaluate";
import { findPausedRelays } from "#server/services/alerts/find-installation-conditions";
import { alertEmailsPerHourMax } from "#server/services/alerts/send-emails";
import { createAlertWorld } from "../../support/alert-world";
import { forEachTest } from "../../support/fixtures";
import { relayTo } from "../../support/relays";

const world = forEachTest(() =>
  createAlertWorld(
    {},
    { rcpt: ({ address }) => (address.startsWith("no-") ? "550 5.1.1 unknown user" : "250 ok") },
  ),
);

const rows = () =>
  world.hot<{ kind: string; teamId: string | null; subject: string; state: string; message: string }[]>`
    select kind, team_id as "teamId", subject, message,
      case when opened_at is null then 'pending' when resolved_at is null then 'open' else 'resolved' end as state
    from alerts order by kind, subject`;
const later = async (interval: string, changes = {}) => {
  await world.elapse(interval);
  await world.hot`update system_mails set created_at = created_at - ${interval}::interval`;
  await world.round(changes);
};
const subjects = () => world.received().map(({ to, subject }) => `${to}: ${subject}`);
const loseDns = (name: string) =>
  world.hot`update domains set declared_verified_at = null, failing_since = now() - interval '13 hours', failed_checks = 2
    where name = ${name}`;
const restoreDns = (name: string) =>
  world.hot`update domains set failing_since = null, failed_checks = 0 where name = ${name}`;

test("a high bounce rate of a domain is sent to owners and admins once, again once a day, and when it is over", async () => {
  await world.person("adam@example.net", { role: "admin" });
  await world.person("mia@example.net", { role: "member" });
  const quiet = await world.person("quinn@example.net", { role: "admin" });
  await world.hot`update users set has_alert_emails = false where id = ${quiet}`;
  const other = await world.otherTeam();
  await world.person("otto@example.net", { role: "owner", team: other });
  await world.results({ delivered: 190, bounced: 10 });
  await world.round();
  expect(subjects()).toEqual([]);

  await world.results({ bounced: 2 });
  await later("1 min");
  const emails = world.received();
  expect(emails.map(({ to }) => to).sort()).toEqual(["adam@example.net", "ann@example.net"]);
  expect(emails[0]?.subject).toBe("Alert: High bounce rate, example.org, First");
  expect(emails[0]?.text).toContain(
    "5.9% of 202 recipients of example.org bounced in the last 24 hours. The limit is 5%.",
  );
  expect(emails[0]?.text).toContain(
    `https://mail.example.com/console/emails?status=bounced&team=${world.id}`,
  );
  expect(emails[0]?.text).toContain("https://mail.example.com/console/settings/profile");
  await later("10 min");
  await later("12 hours");
  expect(subjects()).toEqual([]);
  await later("12 hours");
  expect(subjects()).toContain("ann@example.net: Still open: High bounce rate, example.org, First");

  // Below the limit, but above the lower one at which it is resolved.
  await world.results({ delivered: 50 });
  await later("2 hours");
  expect(await rows()).toMatchObject([{ kind: "bounce_rate", state: "open" }]);
  await world.results({ delivered: 200 });
  await later("1 min");
  await later("59 min");
  expect(subjects()).toEqual([]);
  await later("2 min");
  const resolved = world.received();
  expect(resolved.map(({ subject }) => subject)).toEqual(
    Array(2).fill("Resolved: High bounce rate, example.org, First"),
  );
});

test("few recipients, the built-in domain and old results open no alert", async () => {
  await world.results({ delivered: 50, bounced: 40 });
  await world.results({ delivered: 500, bounced: 500, domain: "backstamp.test" });
  await world.results({ delivered: 500, bounced: 500, domain: "old.example" });
  await world.hot`update recipient_totals set starts_at = starts_at - interval '24 hours' where value = 'old.example'`;
  await world.round();
  expect(await rows()).toEqual([]);
});

test("the rates come from the results of sent email, hour by hour", async () => {
  const rejected = Array.from({ length: 8 }, (_, n) => `no-${n}@example.net`);
  const accepted = Array.from({ length: 92 }, (_, n) => `yes-${n}@example.net`);
  const all = [...rejected, ...accepted];
  await world.send({ to: all.slice(0, 50) });
  await world.send({ to: all.slice(50) });
  await world.deliver();
  const counted = async () => {
    await countNewEvents(world.withTransport(), () => true);
    return [
      ...(await world.hot`
        select value as domain, sent, bounced_permanent as bounced from recipient_totals where dimension = 'result'`),
    ];
  };
  // The counts follow the feed, which waits for open transactions of other tests in the cluster.
  await expect.poll(counted).toEqual([{ domain: "example.org", sent: 92, bounced: 8 }]);
  // The rounds of delivery evaluate the alerts, and send their emails.
  await world.elapse("1 min");
  await world.deliver();
  await world.deliver();
  expect(world.received().map(({ subject }) => subject)).toEqual([
    "Alert: High bounce rate, example.org, First",
  ]);
});

test("complaints, lost DNS records, a disabled endpoint and a paused team are alerts of the team", async () => {
  await world.results({ delivered: 1_000, complained: 2 });
  await loseDns("example.org");
  const { token } = await world.key();
  const { body } = await world.api("POST", "/api/webhooks", {
    token,
    body: { endpoint: "http://127.0.0.1:9/hook", events: ["email.sent"] },
  });
  await world.hot`update webhooks set status = 'disabled', disabled_reason = 'gone' where id = ${String(body.id)}`;
  await world.hot`insert into queue_pauses (id, team_id, reason, actor) values (uuid_v7(), ${world.id}, 'Invoice', 'operator')`;
  await world.round();
  const teamId = world.id;
  expect(await rows()).toMatchObject([
    { kind: "complaint_rate", teamId, subject: "example.org", state: "open" },
    { kind: "domain_dns", teamId, state: "open" },
    { kind: "endpoint_disabled", teamId, subject: body.id, state: "open" },
    { kind: "team_paused", teamId, state: "open" },
  ]);
  const [email, ...others] = world.received();
  expect(others).toEqual([]);
  expect(email).toMatchObject({ to: "ann@example.net", subject: "4 alerts at mail.example.com: 4 new" });
  expect(email?.text).toContain("Alert: DNS records lost, example.org, First.");
  expect(email?.text).toContain("Reason: Invoice");
  // A member may disable a webhook.
  await world.hot`update webhooks set disabled_reason = null`;
  await later("1 min");
  expect((await rows()).find(({ kind }) => kind === "endpoint_disabled")).toMatchObject({
    state: "resolved",
  });
});

test("a lost verification is an alert until the records are back, whatever later checks find; a new domain is none", async () => {
  await world.domain("new.example", { verified: false });
  await world.hot`update domains set status = 'failed', failed_checks = 0, failing_since = now() - interval '4 days'
    where name = 'new.example'`;
  await loseDns("example.org");
  await world.round();
  await world.hot`update domains set status = 'failed', failed_checks = 0 where name = 'example.org'`;
  await later("1 day");
  expect(await rows()).toMatchObject([
    {
      kind: "domain_dns",
      state: "open",
      message: expect.stringContaining("example.org lost its verification"),
    },
  ]);
  await world.hot`update domains set status = 'verified', failing_since = null where name = 'example.org'`;
  await later("1 min");
  expect(await rows()).toMatchObject([{ kind: "domain_dns", state: "resolved" }]);
});

test("late email, a paused relay, a full disk and an old backup are alerts of the operators only", async () => {
  await relayTo(world.deps, world.relay, { name: "main", teamId: world.id });
  await world.hot`update relays set paused_until = 'infinity', last_fault = 'connection refused'`;
  await world.hot`insert into backups (id, is_scheduled, status, location, started_at, ended_at)
    values (uuid_v7(), true, 'succeeded', '/backups', now() - interval '49 hours', now() - interval '49 hours')`;
  const changes = {
    readDisk: async () => ({ freeBytes: 1e9, totalBytes: 100e9 }),
    policy: { ...world.deps.policy, backupEveryHours: 24 },
  };
  await world.round(changes);
  expect(await rows()).toMatchObject([
    { kind: "backup_old", state: "open", message: expect.stringContaining("49 hours old") },
    { kind: "disk_space", state: "pending" },
    { kind: "relay_paused", state: "pending" },
  ]);
  await world.send();
  await world.elapse("5 min");
  await world.hot`update system_mails set created_at = created_at - interval '5 minutes'`;
  await evaluateAlerts({ ...world.deps, ...changes });
  expect(await rows()).toMatchObject([
    { kind: "backup_old", state: "open" },
    { kind: "delivery_backlog", teamId: null, state: "open" },
    { kind: "disk_space", teamId: null, state: "open" },
    { kind: "relay_paused", teamId: null, state: "open" },
  ]);
  await world.hot`update relays set paused_until = null`;
  await world.round(changes);
  const emails = world.received();
  expect(emails.map(({ to, subject }) => `${to}: ${subject}`)).toEqual([
    "olga@example.net: Alert: Backup too old",
    "olga@example.net: 3 alerts at mail.example.com: 3 new",
  ]);
  expect(emails[1]?.text).toContain("https://mail.example.com/console/installation/alerts");
  expect(emails[1]?.text).toContain("Last error: connection refused");
});

test("an alert about a relay names the relay, also that of SMTP_URL", async () => {
  await relayTo(world.deps, { port: 2525 }, { name: "main" });
  await world.hot`update relays set paused_until = 'infinity'`;
  await world.hot`
    insert into smtp_url_relays (id, host, paused_until, last_fault, last_fault_at)
    values ('x', 'smtp.example.com:587', 'infinity', 'rejected', now())`;
  expect((await findPausedRelays(world.deps)).map(({ name }) => name)).toEqual([
    "main",
    "SMTP_URL (smtp.example.com:587)",
  ]);
});

test("a scheduled backup that was never made is an alert when a worker has run for an hour", async () => {
  const changes = { policy: { ...world.deps.policy, backupEveryHours: 24 } };
  const runFor = async (minutes: number) => {
    await world.hot`delete from workers`;
    await world.hot`
      insert into workers (id, host, pid, transport, started_at, beat_at)
      values (uuid_v7(), 'worker', 1, 'relay', now() - ${minutes} * interval '1 minute', 'infinity')`;
  };
  await runFor(59);
  await world.round(changes);
  expect(await rows()).toEqual([]);
  await runFor(61);
  await world.hot`
    insert into backups (id, is_scheduled, status, location) values (uuid_v7(), true, 'running', '/backups')`;
  await later("1 min", changes);
  expect(await rows()).toEqual([]);
  await world.hot`delete from backups`;
  await later("1 min", changes);
  expect(await rows()).toMatchObject([
    { kind: "backup_old", state: "open", message: expect.stringContaining("was ever made") },
  ]);
  await later("1 min");
  expect(await rows()).toMatchObject([{ kind: "backup_old", state: "resolved" }]);
});

test("a reading that fails resolves nothing", async () => {
  const full = { readDisk: async () => ({ freeBytes: 1e9, totalBytes: 100e9 }) };
  await world.round(full);
  await later("2 min", full);
  expect(await rows()).toMatchObject([{ kind: "disk_space", state: "open" }]);
  await later("1 hour", { readDisk: () => Promise.reject(new Error("EIO")) });
  await later("1 hour", { readDisk: () => Promise.reject(new Error("EIO")) });
  expect(await rows()).toMatchObject([{ kind: "disk_space", state: "open" }]);
});

test("a relay that is paused and resumed again and again is announced at most once an hour", async () => {
  await relayTo(world.deps, world.relay, { name: "main", teamId: world.id });
  const pause = () => world.hot`update relays set paused_until = 'infinity'`;
  const resume = () => world.hot`update relays set paused_until = null`;
  for (let n = 0; n < 2; n++) {
    await pause();
    await later("1 min");
    await later("4 min");
    await resume();
    await later("1 min");
  }
  expect(subjects()).toEqual([]);
  await pause();
  await later("1 min");
  await later("5 min");
  expect(subjects()).toEqual(["olga@example.net: Alert: Relay paused after faults, main"]);
  for (let n = 0; n < 2; n++) {
    await resume();
    await later("1 min");
    await later("10 min");
    await pause();
    await later("2 min");
  }
  expect(subjects()).toEqual([]);
  await resume();
  await later("1 min");
  await later("16 min");
  expect(subjects()).toEqual(["olga@example.net: Resolved: Relay paused after faults, main"]);
  await pause();
  await later("1 min");
  await later("10 min");
  expect(await rows()).toMatchObject([{ kind: "relay_paused", state: "open" }]);
  expect(subjects()).toEqual([]);
  await later("50 min");
  expect(subjects()).toEqual(["olga@example.net: Alert: Relay paused after faults, main"]);
});

test("one address receives a limited number of alert emails in an hour, and then the others as one summary", async () => {
  const count = alertEmailsPerHourMax + 30;
  await world.hot`
    insert into domains select (jsonb_populate_record(d,
      jsonb_build_object('id', gen_random_uuid(), 'name', 'd' || n || '.example'))).*
    from domains d, generate_series(0, ${count - 1}::int) n where name = 'example.org'`;
  for (let n = 0; n < alertEmailsPerHourMax; n++) {
    await loseDns(`d${n}.example`);
    await later("1 min");
  }
  expect(subjects()).toHaveLength(alertEmailsPerHourMax);
  for (let n = alertEmailsPerHourMax; n < count; n++) await loseDns(`d${n}.example`);
  await later("1 min");
  await restoreDns("d7.example");
  await later("1 min");
  expect(subjects()).toEqual([]);
  await later("1 hour");
  const [summary, ...others] = world.received();
  expect(others).toEqual([]);
  expect(summary?.subject).toBe("30 alerts at mail.example.com: 20 new");
  expect(summary?.text).toContain("10 more alerts are in the console.");
});

test("a member who was removed or is no longer admin receives neither waiting nor queued alert emails", async () => {
  const adam = await world.person("adam@example.net", { role: "admin" });
  const both = await world.person("bea@example.net", { role: "admin" });
  const other = await world.otherTeam();
  await world.hot`insert into memberships (team_id, user_id, role) values (${other.id}, ${both}, 'owner')`;
  await other.domain("other.example");
  const lose = async (name: string) => {
    await loseDns(name);
    await world.elapse("1 min");
    await evaluateAlerts(world.deps);
  };
  // Queued, but not sent yet, when the right is lost.
  await lose("example.org");
  expect(await world.hot`select from system_mails`).toHaveLength(3);
  await world.hot`delete from memberships where user_id = ${adam}`;
  await world.hot`update memberships set role = 'viewer' where user_id = ${both} and team_id = ${world.id}`;
  await world.round();
  expect(subjects()).toEqual(["ann@example.net: Alert: DNS records lost, example.org, First"]);
  expect(
    await world.hot`select distinct status, details from system_mails where recipient <> 'ann@example.net'`,
  ).toEqual([{ status: "dropped", details: null }]);

  // Not queued yet, because of the limit of an hour.
  await world.hot`update memberships set role = 'admin' where user_id = ${both}`;
  for (let n = 0; n < alertEmailsPerHourMax; n++)
    await world.hot`insert into system_mails (id, kind, recipient, expires_at, message_id, status, ended_at)
      values (uuid_v7(), 'alert', 'bea@example.net', now(), 'm@example.com', 'sent', now())`;
  await world.domain("second.example");
  await lose("second.example");
  await lose("other.example");
  expect(await world.hot`select from alert_notices where user_id = ${both}`).toHaveLength(2);
  await world.hot`update memberships set role = 'viewer' where user_id = ${both} and team_id = ${world.id}`;
  await later("1 hour");
  expect(subjects().filter((subject) => subject.startsWith("bea"))).toEqual([
    "bea@example.net: Alert: DNS records lost, other.example, Other",
  ]);
});

test("without outgoing email, alerts are recorded and no email is kept for later", async () => {
  await loseDns("example.org");
  await evaluateAlerts({ ...world.deps, transportKind: "none" });
  expect(await rows()).toMatchObject([{ kind: "domain_dns", state: "open" }]);
  expect(await world.hot`select * from alert_notices`).toEqual([]);
  expect(await world.hot`select * from system_mails`).toEqual([]);
});
