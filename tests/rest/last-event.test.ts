import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openTrackingWorld, type Sent, type TrackingWorld } from "../support/tracking-world";

const SCANNER = "BarracudaCentral/1.0";
const PREFETCH = "Mozilla/5.0";
const PROXY = "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)";

let tracking: TrackingWorld;
beforeAll(async () => {
  tracking = await openTrackingWorld();
});
afterAll(() => tracking.close());
beforeEach(() => {
  tracking.peer.messages.length = 0;
});

/** The last event from the email and from the list, which must be equal. */
async function lastEventOf(id: string): Promise<unknown> {
  const { token, world } = tracking;
  const one = await world.api("GET", `/api/emails/${id}`, { token });
  const list = await world.api("GET", "/api/emails?limit=100", { token });
  const row = (list.body.data as Record<string, unknown>[]).find((email) => email.id === id);
  expect(row?.last_event).toBe(one.body.last_event);
  expect(one.body.status).toBe(row?.status);
  return one.body.last_event;
}
const sent = async (more: object = {}): Promise<Sent> => {
  const email = await tracking.deliver(more);
  await tracking.later(email.id);
  return email;
};
const setStatus = async (id: string, address: string, status: string) => {
  const { hot } = tracking.world.deps;
  await hot`
    update deliveries set status = ${status}, due_at = 'infinity' where email_id = ${id} and address = ${address}`;
  await hot`update emails set status = ${status} where id = ${id}`;
};

test("the last event of an email is opened, then clicked", async () => {
  const { id, pixel, click } = await sent();
  expect(await lastEventOf(id)).toBe("sent");
  await tracking.visit(pixel);
  expect(await lastEventOf(id)).toBe("opened");
  await tracking.visit(click);
  expect(await lastEventOf(id)).toBe("clicked");
  // Another open does not replace the click.
  await tracking.later(id, "2 hours");
  await tracking.visit(pixel);
  expect(await tracking.visitsOf(id)).toHaveLength(3);
  expect(await lastEventOf(id)).toBe("clicked");
  const { body } = await tracking.world.api("GET", `/api/emails/${id}`, { token: tracking.token });
  expect(body).toMatchObject({ status: "sent", recipients: [{ status: "sent" }] });
});

test("an image proxy for a reader counts, a filter or a prefetch does not", async () => {
  const { id, pixel, click } = await sent();
  await tracking.visit(pixel, SCANNER);
  await tracking.visit(click, SCANNER);
  await tracking.visit(pixel, PREFETCH);
  expect(await tracking.visitsOf(id)).toHaveLength(3);
  expect(await lastEventOf(id)).toBe("sent");
  await tracking.visit(pixel, PROXY);
  expect(await lastEventOf(id)).toBe("opened");
});

test.each([
  ["complained", "complained"],
  ["bounced", "bounced"],
  ["failed", "failed"],
  ["unknown", "delivery_delayed"],
  ["queued", "queued"],
])(
  "a recipient with the worse status %s takes precedence over one who opened the email",
  async (status, lastEvent) => {
    const { id, pixel } = await sent({ to: ["ann@example.net", "ben@example.net"] });
    await tracking.visit(pixel);
    expect(await lastEventOf(id)).toBe("opened");
    await setStatus(id, "ben@example.net", status);
    expect(await lastEventOf(id)).toBe(lastEvent);
  },
);

test.each(["sent", "delivered"])("one with the status %s does not", async (status) => {
  const { id, pixel } = await sent({ to: ["ann@example.net", "ben@example.net"] });
  await setStatus(id, "ben@example.net", status);
  await tracking.visit(pixel);
  expect(await lastEventOf(id)).toBe("opened");
});
