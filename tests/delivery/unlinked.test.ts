import { beforeAll, expect, test } from "vitest";
import { createCapture } from "#server/delivery/attempt/capture";
import { forAllTests } from "../support/fixtures";
import { deliverDue } from "../support/pump-engine";
import { createWorld } from "../support/world";

const world = forAllTests(() => createWorld());
let token: string;
beforeAll(async () => {
  ({ token } = await world.key());
});

const deliver = () => deliverDue({ ...world.deps, transport: createCapture(world.deps.hot) });

async function send(by: string, domain: string, to = "ben@example.net"): Promise<string> {
  const body = { from: `ann@${domain}`, to, subject: "Hello", html: "<p>Hi</p>" };
  const reply = await world.api("POST", "/api/emails", { token: by, body });
  expect(reply.status).toBe(200);
  return String(reply.body.id);
}
const show = async (id: string) => (await world.api("GET", `/api/emails/${id}`, { token })).body;
const captured = async (id: string) =>
  (await world.deps.hot`select from deliveries where email_id = ${id} and status = 'delivered'`).length;

test("queued email is not sent after its API key loses the link to the sender's domain", async () => {
  const domain = await world.domain("unlinked.example.com");
  const key = await world.key({ domains: [domain.name] });
  const kept = await world.key({ domains: [domain.name] });
  const [stopped, sent] = [await send(key.token, domain.name), await send(kept.token, domain.name)];
  await world.api("DELETE", `/api/api-keys/${key.id}/domains/${domain.id}`, { token });
  await deliver();
  expect(await show(stopped)).toMatchObject({
    status: "failed",
    recipients: [
      { status: "failed", reason: expect.stringMatching(/unlinked\.example\.com .*no longer linked/) },
    ],
  });
  expect([await captured(stopped), await captured(sent)]).toEqual([0, 1]);
});

test("queued email is not sent after the sender's domain is deleted, whichever API key sent it", async () => {
  const domain = await world.domain("deleted.example.com");
  const key = await world.key({ domains: [domain.name] });
  const ids = [
    await send(token, domain.name),
    await send(key.token, domain.name),
    await send(token, domain.name, "delivered@backstamp.test"),
  ];
  await world.api("DELETE", `/api/domains/${domain.id}`, { token });
  await deliver();
  for (const id of ids) {
    expect((await show(id)).status).toBe("failed");
    expect(await captured(id)).toBe(0);
  }
});

test("accepted email is sent even if its API key was revoked or replaced in the meantime", async () => {
  const domain = await world.domain("kept.example.com");
  const [revoked, replaced] = [
    await world.key({ domains: [domain.name] }),
    await world.key({ domains: [domain.name] }),
  ];
  const ids = [await send(revoked.token, domain.name), await send(replaced.token, domain.name)];
  await world.revoke(revoked.id);
  const body = { overlap_seconds: 0 };
  await world.api("POST", `/api/api-keys/${replaced.id}/rotate`, { token, body });
  await deliver();
  for (const id of ids) expect((await show(id)).status).toBe("delivered");
});
