import { afterAll, beforeEach, expect, test } from "vitest";
import { deliverDue, sendDueEvents } from "../support/pump-engine";
import { rejected } from "../support/rejected";
import { transportTo } from "../support/relays";
import { startHttpSink } from "../support/servers/http-sink";
import { startSmtpTestServer } from "../support/servers/smtp-test-server";
import { openWorld } from "../support/world";

const names = { mailHost: null, returnPathDomain: null, webHost: null };
const world = await openWorld({ transportKind: "relay", names });
const { token } = await world.key();
const server = await startSmtpTestServer();
const transport = transportTo(server);
const sink = await startHttpSink();
await world.api("POST", "/api/webhooks", {
  token,
  body: { endpoint: `http://127.0.0.1:${sink.port}/`, events: ["suppression.added", "suppression.removed"] },
});
afterAll(async () => {
  await transport.close();
  await server.close();
  await sink.close();
});
beforeEach(async () => {
  await world.hot`delete from suppressions`;
});

const ADDRESS = "ben@example.net";
const send = async (list_unsubscribe: unknown) => {
  const email = { from: "ann@example.org", to: ADDRESS, subject: "News", text: "Hi", list_unsubscribe };
  return world.api("POST", "/api/emails", { token, body: email });
};
const round = () => deliverDue({ ...world.deps, names, transport });
/** The link in the header of an email that is sent with this option. */
async function linkOf(option: unknown): Promise<string> {
  server.messages.length = 0;
  await send(option);
  await round();
  const [, link = ""] = /^List-Unsubscribe:\s*<([^>]+)>/m.exec(String(server.messages[0]?.bytes)) ?? [];
  return new URL(link.replace(/\s/g, "")).pathname;
}
/** What becomes of one email of each kind: of the lists News and Offers, of no list, and without a link. */
async function outcomes(): Promise<unknown[]> {
  const ids: unknown[] = [];
  for (const option of [{ list: "News" }, { list: "Offers" }, true, false])
    ids.push((await send(option)).body.id);
  await round();
  return Promise.all(
    ids.map(async (id) => (await world.api("GET", `/api/emails/${id}`, { token })).body.status),
  );
}
const entry = async () => (await world.api("GET", `/api/suppressions/${ADDRESS}`, { token })).body;
const act = async (path: string) => {
  const { status, text } = await world.api("POST", path, { raw: "List-Unsubscribe=One-Click" });
  expect(status).toBe(200);
  return text;
};
/** The events that the endpoint got since the last call, as type and lists. */
async function events() {
  await sendDueEvents(world.withTransport(null));
  const received = sink.received.splice(0).map(({ body }) => JSON.parse(body));
  return received.map(({ type, data }) => [type, data.origin, data.lists]);
}

test("one click blocks the list of the email only, and further clicks add their lists", async () => {
  const [news, offers] = [await linkOf({ list: "News" }), await linkOf({ list: "Offers" })];
  await events();
  await act(news);
  expect(await entry()).toMatchObject({ origin: "unsubscribe", lists_only: true, lists: ["News"] });
  expect(await outcomes()).toEqual(["suppressed", "sent", "sent", "sent"]);
  await act(offers);
  await act(offers);
  expect((await entry()).lists).toEqual(["News", "Offers"]);
  expect(await outcomes()).toEqual(["suppressed", "suppressed", "sent", "sent"]);
  expect(await events()).toEqual([
    ["suppression.added", "unsubscribe", ["News"]],
    ["suppression.added", "unsubscribe", ["News", "Offers"]],
  ]);
});

test("the event of a suppressed email and a dry run name the unsubscribe", async () => {
  await act(await linkOf({ list: "News" }));
  const { body: accepted } = await send({ list: "News" });
  await round();
  const { body } = await world.api("GET", `/api/emails/${accepted.id}`, { token });
  const [, last] = body.events as { type: string; data: object }[];
  expect(last).toMatchObject({ type: "email.suppressed", data: { suppressed_by: "unsubscribe" } });
  const email = { from: "ann@example.org", to: ADDRESS, subject: "News", text: "Hi" };
  const dryRun = async (list: string) => {
    const options = { token, body: { ...email, list_unsubscribe: { list } } };
    return (await world.api("POST", "/api/emails?dry_run=true", options)).body;
  };
  expect(await dryRun("News")).toMatchObject({
    outcome: "suppressed",
    recipients: [{ suppressed_by: "unsubscribe" }],
  });
  expect(await dryRun("Offers")).toMatchObject({ outcome: "queued", recipients: [{ suppressed_by: null }] });
});

test("the page unsubscribes from all lists, and subscribes again", async () => {
  const path = await linkOf({ list: "News" });
  await events();
  expect((await world.api("GET", path)).text).toContain("Unsubscribe from News");
  await act(path);
  await act(`${path}/all`);
  expect(await entry()).toMatchObject({ lists_only: true, lists: null });
  expect(await outcomes()).toEqual(["suppressed", "suppressed", "suppressed", "sent"]);
  expect((await world.api("GET", path)).text).not.toContain("Unsubscribe from");
  expect(await act(`${path}/resubscribe`)).toContain("Unsubscribe from News");
  expect(await outcomes()).toEqual(["sent", "sent", "sent", "sent"]);
  expect(await events()).toEqual([
    ["suppression.added", "unsubscribe", ["News"]],
    ["suppression.added", "unsubscribe", null],
    ["suppression.removed", "unsubscribe", null],
  ]);
});

test("subscribing to one list again leaves the others blocked", async () => {
  const [news, offers] = [await linkOf({ list: "News" }), await linkOf({ list: "Offers" })];
  await act(news);
  await act(offers);
  await events();
  await act(`${news}/resubscribe`);
  await act(`${news}/resubscribe`);
  expect((await entry()).lists).toEqual(["Offers"]);
  expect(await outcomes()).toEqual(["sent", "suppressed", "sent", "sent"]);
  expect(await events()).toEqual([["suppression.removed", "unsubscribe", ["News"]]]);
});

test("a link does not end a suppression with another reason", async () => {
  const path = await linkOf({ list: "News" });
  await world.api("POST", "/api/suppressions", { token, body: { email: ADDRESS } });
  for (const end of ["", "/all", "/resubscribe"]) expect(await act(`${path}${end}`)).not.toContain("<form");
  expect(await entry()).toMatchObject({ origin: "manual", lists_only: false, lists: null });
  expect(await outcomes()).toEqual(Array(4).fill("suppressed"));
});

test("between claim and sending an unsubscribe from the list still takes effect, one from another does not", async () => {
  const { markHandedOver, claimDeliveries } = await import("#server/delivery/queue/claims");
  await send({ list: "News" });
  const claims = await claimDeliveries(world.hot, { limit: 10, leaseToken: crypto.randomUUID() });
  await world.hot`
    insert into suppressions (team_id, id, address, origin, lists_only, lists)
    values (${world.id}, gen_random_uuid(), ${ADDRESS}, 'unsubscribe', true, '{News}')`;
  const of = (listName: string) => claims.map((claim) => ({ ...claim, offersUnsubscribe: true, listName }));
  expect(await markHandedOver(world.hot, of("News"))).toEqual(new Set());
  expect((await markHandedOver(world.hot, of("Offers"))).size).toBe(claims.length);
});

test("an invalid link shows a page, and viewing a valid one changes nothing", async () => {
  const path = await linkOf({ list: "News" });
  const before = await world.rowCounts();
  for (const method of ["GET", "POST"]) {
    const { status, text, headers } = await world.api(method, `${path.slice(0, -2)}AA`);
    expect({ status, type: headers["content-type"] }).toEqual({
      status: 404,
      type: "text/html; charset=utf-8",
    });
    expect(text).toMatch(/<h1>Link not valid<\/h1>/);
  }
  expect((await world.api("POST", `${path}/none`)).status).toBe(401);
  const { headers, text } = await world.api("GET", path);
  expect(headers["content-security-policy"]).toContain("form-action 'self'");
  expect(text).toContain('<meta name="robots" content="noindex">');
  expect(text).not.toContain(ADDRESS);
  expect(await world.rowCounts()).toEqual(before);
});

test("an entry that release 0.2.0 adds for a link has the origin unsubscribe", async () => {
  await world.hot`
    insert into suppressions (team_id, id, address, origin, lists_only)
    values (${world.id}, gen_random_uuid(), ${ADDRESS}, 'manual', true)`;
  expect(await entry()).toMatchObject({ origin: "unsubscribe", lists_only: true, lists: null });
});

test.each([{ list: "" }, { list: "a|b" }, { list: "x".repeat(65) }, { list: "News", other: 1 }, {}, "News"])(
  "the option %j is rejected with what is valid",
  async (option) => {
    expect(await send(option)).toMatchObject(rejected(422, /list_unsubscribe.*/));
  },
);
