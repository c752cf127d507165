import { beforeEach, expect, test } from "vitest";
import { claimDeliveries, markHandedOver } from "#server/delivery/queue/claims";
import { recoverExpired } from "#server/delivery/queue/recover-expired";
import { newId } from "#server/platform/ids";
import { settleEmail } from "#server/services/emails/change/change";
import { retryEmail } from "#server/services/emails/change/retry";
import { createTeam, updateTeam } from "#server/services/teams";
import { relayTo } from "../mail/relay-world";
import { forEachTest } from "../support/fixtures";
import { deliverDue } from "../support/pump-engine";
import { DROP, startSmtpTestServer } from "../support/servers/smtp-test-server";
import { createWorld } from "../support/world";

const world = forEachTest(() => createWorld({ transportKind: "relay" }));
const peer = forEachTest(() => startSmtpTestServer({ message: [DROP, "250 2.0.0 kept"] }));
beforeEach(async () => {
  await updateTeam(world.ctx, { unknown: "hold" });
});

async function round(): Promise<void> {
  const transport = relayTo(peer);
  await deliverDue(world.withTransport(transport));
  await transport.close();
}

/** An email whose final dot got no reply for any of its recipients. */
async function sendUnknown(to = ["ann@example.net", "ben@example.net"]): Promise<string> {
  const { id } = await world.send({ to });
  await round();
  expect((await world.email(id)).status).toBe("unknown");
  return id;
}

const statusesOf = async (id: string) => (await world.email(id)).deliveries.map(({ status }) => status);

test("a held email that is resolved as sent is not sent again, and the timeline names the recipients of the decision", async () => {
  const id = await sendUnknown();
  expect(await settleEmail(world.ctx, id, { as: "sent", recipients: ["ben@example.net"] })).toEqual([
    "ben@example.net",
  ]);
  expect(await statusesOf(id)).toEqual(["unknown", "sent"]);
  expect((await world.email(id)).status).toBe("unknown");
  expect(await settleEmail(world.ctx, id, { as: "sent", recipients: null })).toEqual(["ann@example.net"]);
  await round();
  expect(peer.messages).toHaveLength(1);
  const { status, events } = await world.email(id);
  expect(status).toBe("sent");
  expect(events.slice(-2)).toMatchObject([
    { type: "email.sent", recipient: "ben@example.net", data: { reason: "Marked as sent on request." } },
    { type: "email.sent", recipient: "ann@example.net" },
  ]);
});

test("a held email that is resolved as failed is not sent, fires email.failed, and can be retried later", async () => {
  const id = await sendUnknown();
  expect(await settleEmail(world.ctx, id, { as: "failed", recipients: null })).toHaveLength(2);
  await round();
  expect(peer.messages).toHaveLength(1);
  const { status, events } = await world.email(id);
  expect(status).toBe("failed");
  expect(events.slice(-2)).toMatchObject([
    { type: "email.failed", recipient: "ann@example.net", data: { reason: "Marked as failed on request." } },
    { type: "email.failed", recipient: "ben@example.net" },
  ]);
  await retryEmail(world.ctx, id, false, ["ben@example.net"]);
  await round();
  expect(await statusesOf(id)).toEqual(["failed", "sent"]);
  expect(peer.messages.at(-1)?.to).toEqual(["ben@example.net"]);
});

test("a held email is sent again to the chosen recipients with the same Message-ID", async () => {
  const id = await sendUnknown();
  expect(await settleEmail(world.ctx, id, { as: "retry", recipients: ["ann@example.net"] })).toEqual([
    "ann@example.net",
  ]);
  await round();
  expect(peer.messages.map(({ to }) => to)).toEqual([
    ["ann@example.net", "ben@example.net"],
    ["ann@example.net"],
  ]);
  expect(peer.messages[0]?.bytes.equals(peer.messages[1]?.bytes ?? Buffer.alloc(0))).toBe(true);
  expect(await statusesOf(id)).toEqual(["sent", "unknown"]);
});

test("deliveries without an unknown outcome, and those of other teams, cannot be resolved", async () => {
  const id = await sendUnknown(["ann@example.net"]);
  await expect(
    settleEmail(world.ctx, id, { as: "sent", recipients: ["cy@example.net"] }),
  ).rejects.toMatchObject({
    code: "invalid",
    message:
      "The outcome of cy@example.net is not unknown. Recipients with an unknown outcome: ann@example.net.",
  });
  const otherTeam = await createTeam(world.deps, { name: "Other" });
  await expect(
    settleEmail({ ...world.ctx, teamId: otherTeam.id }, id, { as: "sent", recipients: null }),
  ).rejects.toMatchObject({ code: "not_found" });
  expect(await statusesOf(id)).toEqual(["unknown"]);

  await settleEmail(world.ctx, id, { as: "sent", recipients: null });
  await expect(settleEmail(world.ctx, id, { as: "retry", recipients: null })).rejects.toMatchObject({
    code: "conflict",
    message: expect.stringContaining("This email is sent"),
  });
});

test.each([
  ["hold", "claimed", "queued"],
  ["hold", "handed_over", "unknown"],
  ["retry", "claimed", "queued"],
  ["retry", "handed_over", "queued"],
] as const)(
  "with the policy %s a delivery that a lost worker had %s is then %s",
  async (policy, stage, status) => {
    await updateTeam(world.ctx, { unknown: policy });
    const { id } = await world.send({ to: ["ann@example.net"] });
    const claims = await claimDeliveries(world.hot, { limit: 10, leaseToken: newId() });
    if (stage === "handed_over") await markHandedOver(world.hot, claims);
    await world.elapse("1 hour");
    await recoverExpired(world.hot, newId, 10);
    const [delivery] = await world.hot`select status from deliveries where email_id = ${id}`;
    expect(delivery?.status).toBe(status);
    const recorded = (await world.email(id)).events.some(({ type }) => type === "email.unknown");
    expect(recorded).toBe(stage === "handed_over");
  },
);

test("of concurrent decisions about the same email, one succeeds", async () => {
  const id = await sendUnknown(["ann@example.net"]);
  const decisions = await Promise.allSettled(
    Array.from({ length: 4 }, (_, nth) =>
      settleEmail(world.ctx, id, { as: nth % 2 ? "sent" : "retry", recipients: null }),
    ),
  );
  const settled = decisions.filter(
    ({ status, ...rest }) => status === "fulfilled" && "value" in rest && rest.value.length > 0,
  );
  expect(settled).toHaveLength(1);
});
