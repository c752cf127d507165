import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { Sdk } from "./clients";
import { describeClients, errorOf, errorWith, startTestServer } from "./test-server";

const testServer = await startTestServer();

const id = randomUUID();
const contact = { email: "ann@example.com" };
type Call = PromiseLike<{ data: unknown; error: unknown }>;

/**
 * Some of the calls of the client that Backstamp does not support, because it has no marketing features and
 * receives no email.
 */
const ABSENT: Record<string, (sdk: Sdk) => Call> = {
  "broadcasts.send": (sdk) => sdk.broadcasts.send(id),
  "segments.create": (sdk) => sdk.segments.create({ name: "x" }),
  "contacts.create": (sdk) => sdk.contacts.create(contact),
  "contacts.get": (sdk) => sdk.contacts.get(contact),
  "topics.list": (sdk) => sdk.topics.list(),
  "automations.list": (sdk) => sdk.automations.list(),
  "events.list": (sdk) => sdk.events.list({ limit: 100 }),
  "events.create": (sdk) => sdk.events.create({ name: "signed.up" }),
  "events.send": (sdk) => sdk.events.send({ event: "signed.up", email: "ann@example.com" }),
  "domains.claims.verify": (sdk) => sdk.domains.claims.verify(id),
  "emails.share": (sdk) => sdk.emails.share(id),
  "emails.receiving.attachments.get": (sdk) => sdk.emails.receiving.attachments.get({ emailId: id, id }),
};

const ABSENT_FROM_NEWEST: Record<string, (sdk: Sdk) => Call> = {
  "inboxes.create": (sdk) => sdk.inboxes.create({ emailAddress: "ann@example.com" }),
  "broadcasts.duplicate": (sdk) => sdk.broadcasts.duplicate(id),
};

describeClients(testServer, (client, account) => {
  test("every call of a feature that Backstamp does not have gets a 404", async () => {
    const absent = { ...ABSENT, ...(client.isNewest ? ABSENT_FROM_NEWEST : {}) };
    for (const [name, call] of Object.entries(absent))
      expect(await errorOf(call(account.sdk)), name).toEqual(
        errorWith(404, "not_found", /^\/api\/.* does not exist\./),
      );
  });
});
