import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CLIENTS, type Sdk } from "./clients";
import { data, errorOf, errorWith, startTestServer, type TestAccount, type TestServer } from "./test-server";

let testServer: TestServer;
beforeAll(async () => {
  testServer = await startTestServer();
});
afterAll(() => testServer.close());

const id = randomUUID();
const contact = { email: "ann@example.com" };
type Call = PromiseLike<{ data: unknown; error: unknown }>;

/**
 * Calls of the client that Backstamp does not support, because it has no marketing features and receives no
 * email.
 */
const ABSENT: Record<string, (sdk: Sdk) => Call> = {
  "broadcasts.create": (sdk) =>
    sdk.broadcasts.create({ segmentId: id, from: "ann@example.com", subject: "x", html: "x" }),
  "broadcasts.list": (sdk) => sdk.broadcasts.list(),
  "broadcasts.get": (sdk) => sdk.broadcasts.get(id),
  "broadcasts.update": (sdk) => sdk.broadcasts.update(id, { name: "x" }),
  "broadcasts.send": (sdk) => sdk.broadcasts.send(id),
  "broadcasts.remove": (sdk) => sdk.broadcasts.remove(id),
  "segments.create": (sdk) => sdk.segments.create({ name: "x" }),
  "segments.list": (sdk) => sdk.segments.list(),
  "segments.get": (sdk) => sdk.segments.get(id),
  "segments.remove": (sdk) => sdk.segments.remove(id),
  "audiences.list": (sdk) => sdk.audiences.list(),
  "contacts.create": (sdk) => sdk.contacts.create(contact),
  "contacts.create in an audience": (sdk) => sdk.contacts.create({ ...contact, audienceId: id }),
  "contacts.list": (sdk) => sdk.contacts.list(),
  "contacts.get": (sdk) => sdk.contacts.get(contact),
  "contacts.update": (sdk) => sdk.contacts.update({ ...contact, unsubscribed: true }),
  "contacts.remove": (sdk) => sdk.contacts.remove(contact),
  "contacts.segments.list": (sdk) => sdk.contacts.segments.list(contact),
  "contacts.topics.list": (sdk) => sdk.contacts.topics.list(contact),
  "contactProperties.list": (sdk) => sdk.contactProperties.list(),
  "topics.list": (sdk) => sdk.topics.list(),
  "automations.list": (sdk) => sdk.automations.list(),
  "automations.get": (sdk) => sdk.automations.get(id),
  "events.send": (sdk) => sdk.events.send({ event: "signed.up", email: "ann@example.com" }),
  "events.get": (sdk) => sdk.events.get("signed.up"),
  "oauthGrants.list": (sdk) => sdk.oauthGrants.list(),
  "domains.claims.create": (sdk) => sdk.domains.claims.create({ name: "example.com" }),
  "domains.claims.get": (sdk) => sdk.domains.claims.get(id),
  "domains.claims.verify": (sdk) => sdk.domains.claims.verify(id),
  "emails.share": (sdk) => sdk.emails.share(id),
  "emails.receiving.list": (sdk) => sdk.emails.receiving.list(),
  "emails.receiving.get": (sdk) => sdk.emails.receiving.get(id),
  "emails.receiving.attachments.list": (sdk) => sdk.emails.receiving.attachments.list({ emailId: id }),
  "emails.receiving.attachments.get": (sdk) => sdk.emails.receiving.attachments.get({ emailId: id, id }),
};

const ABSENT_FROM_NEWEST: Record<string, (sdk: Sdk) => Call> = {
  "inboxes.list": (sdk) => sdk.inboxes.list(),
  "inboxes.create": (sdk) => sdk.inboxes.create({ emailAddress: "ann@example.com" }),
  "inboxes.threads.list": (sdk) => sdk.inboxes.threads.list({ emailAddress: "ann@example.com" }),
  "segments.update": (sdk) => sdk.segments.update(id, { name: "x" }),
  "broadcasts.duplicate": (sdk) => sdk.broadcasts.duplicate(id),
};

describe.each(CLIENTS)("$name", (client) => {
  let account: TestAccount;
  beforeAll(async () => {
    account = await testServer.account(client);
  });

  const absent = { ...ABSENT, ...(client.isNewest ? ABSENT_FROM_NEWEST : {}) };
  test.each(Object.entries(absent))("%s gets a 404", async (_, call) => {
    expect(await errorOf(call(account.sdk))).toEqual(
      errorWith(404, "not_found", /^\/api\/.* does not exist\./),
    );
  });

  test("events.list returns the event feed, and events.create is rejected", async () => {
    const { sdk, mail } = account;
    const sent = await data(sdk.emails.send(mail));
    const list = await data(sdk.events.list({ limit: 100 }));
    expect(list.data).toContainEqual(expect.objectContaining({ email_id: sent.id }));
    expect(await errorOf(sdk.events.create({ name: "signed.up" }))).toEqual(
      errorWith(405, "method_not_allowed"),
    );
  });
});
