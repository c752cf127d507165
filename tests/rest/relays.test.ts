import { expect, test } from "vitest";
import { tick } from "#server/delivery/tick";
import { removeRelay } from "#server/services/relays/write";
import { deliverDue } from "../support/pump-engine";
import { relayTo } from "../support/relays";
import { callApi, startRest } from "../support/rest";
import { startSmtpTestServer } from "../support/servers/smtp-test-server";
import { openTestApp } from "./test-app";

const app = await openTestApp({ transportKind: "none" });

test("a dry run of email with a relay returns the rule relay, and captured if all email is", async () => {
  const { world, token, validEmail } = app;
  const target = { teamId: world.id, url: "smtp://smtp.example.com" };
  const relay = await relayTo(world.deps, { port: 25 }, target);
  for (const [transportKind, rule] of [
    ["none", "relay"],
    ["capture", "captured"],
  ] as const) {
    const server = await startRest({ ...world.deps, transportKind });
    const path = "/api/emails?dry_run=true";
    const { body } = await callApi(server.baseUrl, "POST", path, { token, body: validEmail });
    await server.close();
    expect(body.recipients).toMatchObject([{ outcome: "attempted", rule }]);
  }
  await removeRelay(world.deps, relay);
});

test("an email contains the relay of each delivery and its id at the provider", async () => {
  const messageId = "0102018f0c9e7a11-8d2f6f0e-1c1f-4b7e-9d0a-6b1f4f0e2a55-000000";
  const server = await startSmtpTestServer({ message: `250 Ok ${messageId}` });
  const { world, accepted, show } = app;
  const relay = await relayTo(world.deps, server, { name: "ses", provider: "ses" });
  const id = await accepted();
  await deliverDue(world.withTransport(null));
  const { recipients } = await show(id);
  expect(recipients).toMatchObject([{ status: "sent", relay: "ses", provider_id: messageId }]);
  await removeRelay(world.deps, relay);
  await server.close();
});

test("readiness reports the number of paused relays, but not their names", async () => {
  const server = await startSmtpTestServer({ ehlo: "250-peer.test\r\n250 AUTH PLAIN", auth: "535 5.7.8 no" });
  const { world, accepted, show } = app;
  await relayTo(world.deps, server, { name: "secret name", login: "user:wrong@" });
  const id = await accepted();
  await tick(world.withTransport(null), { budgetMs: 20_000 });
  const { status, body, text } = await world.api("GET", "/api/health/ready");
  expect(status).toBe(200);
  expect(body).toMatchObject({ status: "ready", alarms: [{ alarm: "relays_paused", count: 1 }] });
  expect(text).not.toMatch(/secret name|127\.0\.0\.1/);
  const { recipients } = await show(id);
  expect(recipients).toMatchObject([
    {
      status: "deferred",
      rule: "relay_paused",
      rule_text: expect.stringContaining("does not fail in the meantime"),
      next_attempt_at: expect.any(String),
      reason: expect.stringContaining("535 5.7.8 no"),
    },
  ]);
  await server.close();
});
