import { Webhook } from "standardwebhooks";
import { beforeEach, expect, test } from "vitest";
import { createOutside } from "#server/platform/egress/outside";
import { alertWebhookSecret } from "#server/services/alerts/installation-webhook";
import { createAlertWorld } from "../../support/alert-world";
import { forEachTest } from "../../support/fixtures";
import { startHttpSink } from "../../support/servers/http-sink";

const world = forEachTest(() => createAlertWorld());
const sink = forEachTest(() => startHttpSink(() => status));
let status = 200;
beforeEach(async () => {
  status = 200;
});

const loseDns = () =>
  world.hot`update domains set declared_verified_at = null, failing_since = now() - interval '13 hours', failed_checks = 2
    where name = 'example.org'`;
const restoreDns = () => world.hot`update domains set failing_since = null, failed_checks = 0`;
const later = async (interval: string, changes = {}) => {
  await world.elapse(interval);
  await world.round(changes);
};
const bodies = () => sink.received.map(({ body }) => JSON.parse(body));

test("a team's endpoint receives alerts only if it names them, and only those of its team", async () => {
  const { token } = await world.key();
  const add = async (events: string[]) => {
    const endpoint = `http://127.0.0.1:${sink.port}/${events.join()}`;
    const reply = await world.api("POST", "/api/webhooks", { token, body: { endpoint, events } });
    expect(reply.status).toBe(201);
    return String(reply.body.signing_secret);
  };
  const secret = await add(["alert.opened", "alert.resolved"]);
  await add(["domain.updated", "email.bounced", "webhook.disabled"]);
  const other = await world.otherTeam();
  const { token: foreign } = await other.key();
  await world.api("POST", "/api/webhooks", {
    token: foreign,
    body: { endpoint: `http://127.0.0.1:${sink.port}/other`, events: ["alert.opened"] },
  });
  await world.hot`insert into relays (id, name, url, host, paused_until, team_id)
    values (uuid_v7(), 'main', 'sealed', '127.0.0.1:9', 'infinity', ${other.id})`;
  await loseDns();
  await world.round();
  await later("1 min");
  await restoreDns();
  await later("2 min");
  expect(bodies()).toMatchObject([
    {
      type: "alert.opened",
      data: {
        kind: "domain_dns",
        severity: "critical",
        title: "DNS records lost",
        subject: { name: "example.org" },
        message: expect.stringContaining("example.org"),
        to_do: expect.stringContaining("Publish the records again"),
        url: `https://mail.example.com/console/domains?team=${world.id}`,
        opened_at: expect.stringMatching(/^20.*Z$/),
        resolved_at: null,
      },
    },
    { type: "alert.resolved", data: { kind: "domain_dns", resolved_at: expect.stringMatching(/^20.*Z$/) } },
  ]);
  for (const { body, headers, path } of sink.received) {
    expect(path).toBe("/alert.opened,alert.resolved");
    expect(() => new Webhook(secret).verify(body, headers as Record<string, string>)).not.toThrow();
  }
});

test("the operator's URL receives the installation's alerts, signed and repeated until it responds, and none of a team", async () => {
  const changes = {
    readDisk: async () => ({ freeBytes: 1e9, totalBytes: 100e9 }),
    policy: { ...world.deps.policy, alertWebhookUrl: `http://127.0.0.1:${sink.port}/alerts` },
  };
  status = 503;
  await loseDns();
  await world.round(changes);
  await later("2 min", changes);
  expect(bodies()).toMatchObject([{ type: "alert.opened", data: { kind: "disk_space" } }]);
  await later("1 min", changes);
  expect(sink.received).toHaveLength(2);
  status = 200;
  await later("6 min", changes);
  await later("6 min", changes);
  expect(sink.received).toHaveLength(3);
  const ids = new Set(sink.received.map(({ headers }) => headers["webhook-id"]));
  expect(ids.size).toBe(1);
  const [first] = sink.received;
  const verify = () =>
    new Webhook(alertWebhookSecret(world.deps)).verify(
      first?.body ?? "",
      (first?.headers ?? {}) as Record<string, string>,
    );
  expect(verify).not.toThrow();
  expect(bodies()[0].data).toMatchObject({ subject: { id: null, name: null }, severity: "critical" });
  expect(await world.hot`select * from alert_calls`).toEqual([]);
});

test("requests that waited when the URL was removed are not sent days later", async () => {
  const changes = {
    readDisk: async () => ({ freeBytes: 1e9, totalBytes: 100e9 }),
    policy: { ...world.deps.policy, alertWebhookUrl: `http://127.0.0.1:${sink.port}/alerts` },
  };
  status = 503;
  await world.round(changes);
  await later("2 min", changes);
  expect(sink.received).toHaveLength(1);
  await later("1 hour", { readDisk: changes.readDisk });
  expect(await world.hot`select from alert_calls`).toHaveLength(1);
  await later("3 days", { readDisk: changes.readDisk });
  expect(await world.hot`select from alert_calls`).toHaveLength(0);
  status = 200;
  await later("1 min", changes);
  expect(sink.received).toHaveLength(1);
});

test("an internal address is not called unless the operator allowed it", async () => {
  const outside = createOutside({ allow: [] });
  const changes = {
    outside,
    readDisk: async () => ({ freeBytes: 1e9, totalBytes: 100e9 }),
    policy: { ...world.deps.policy, alertWebhookUrl: `http://127.0.0.1:${sink.port}/alerts` },
  };
  await world.round(changes);
  await later("2 min", changes);
  expect(sink.received).toEqual([]);
  expect(await world.hot`select attempts from alert_calls`).toEqual([{ attempts: 1 }]);
  await outside.close();
});
