import { describe, expect, test } from "vitest";
import { setCopies } from "#server/services/returns/copies/mailboxes";
import { dsn, failed } from "../mail/bounce/messages";
import { endLeases, leaseEmail } from "../support/database/leases";
import { rejected } from "../support/rejected";
import type { Reply } from "../support/rest";
import { openWorld } from "../support/world";

const names = { mailHost: null, returnPathDomain: "bounces.example.com", webHost: null };
const world = await openWorld({ transportKind: "relay", names });
const { token } = await world.key();

/** An email that a relay accepted, and the return path of its delivery. */
async function sent(to: string): Promise<{ id: string; returnPath: string }> {
  const body = { from: "Ann <ann@example.org>", to, subject: "Hello", text: "Hello" };
  const reply = await world.api("POST", "/api/emails", { token, body });
  const id = String(reply.body.id);
  const [row] = await world.hot<{ id: string }[]>`
    update deliveries set status = 'sent', attempts = 1 where email_id = ${id} returning id`;
  return { id, returnPath: `${world.deps.recipientTokens.returnPath(row?.id ?? "")}@bounces.example.com` };
}

const handIn = (raw: Buffer | string, query = ""): Promise<Reply> =>
  world.api("POST", `/api/inbound/message${query}`, {
    token: world.deps.inboundToken ?? "",
    raw,
    headers: { "content-type": "message/rfc822" },
  });

const statusOf = async (id: string) => (await world.api("GET", `/api/emails/${id}`, { token })).body.status;

test("a bounce is recorded before the response, found by the recipient in its header or its envelope", async () => {
  const [one, other] = [await sent("ben@example.net"), await sent("cy@example.net")];
  const first = dsn({
    id: "one",
    to: one.returnPath,
    recipients: [failed("ben@example.net", "550 5.1.1 gone")],
  });
  expect((await handIn(first)).body).toEqual({
    object: "inbound_message",
    kind: "delivery",
    recorded: 1,
    ignored: [],
  });
  expect(await statusOf(one.id)).toBe("bounced");

  const second = dsn({
    id: "two",
    to: "postmaster@example.com",
    recipients: [failed("cy@example.net", "550 gone")],
  });
  const query = `?recipient=${encodeURIComponent(other.returnPath)}`;
  expect((await handIn(second, query)).body).toMatchObject({ recorded: 1 });
  expect(await statusOf(other.id)).toBe("bounced");
  const { body } = await world.api("GET", "/api/suppressions", { token });
  expect(body.data).toMatchObject([{ email: "ben@example.net", origin: "bounce", source_id: one.id }]);
});

test("a bounce of any length is read, also where it has to be read in a thread", async () => {
  for (const length of [5_000, 10_000, 20_000, 40_000, 100_000]) {
    const to = `n${length}@example.net`;
    const { id, returnPath } = await sent(to);
    const bytes = dsn({ id: `l${length}`, to: returnPath, recipients: [failed(to, "550 5.1.1 gone")] });
    const reply = await handIn(Buffer.concat([bytes, Buffer.alloc(length - bytes.length, "\r\n")]));
    expect({ length, body: reply.body }).toMatchObject({ length, body: { recorded: 1 } });
    expect(await statusOf(id)).toBe("bounced");
  }
});

test("a report that changes nothing returns the reason as text", async () => {
  const { returnPath } = await sent("di@example.net");
  const recipients = [failed("di@example.net", "550 5.1.1 gone")];
  const bytes = dsn({ id: "three", to: returnPath, recipients });
  await handIn(bytes);
  expect((await handIn(bytes)).body.ignored).toEqual([
    { reason: "repeated", reason_text: "This report is already recorded." },
  ]);
});

test("a delivery report that arrives during the attempt gets 503, to be submitted again", async () => {
  const { id, returnPath } = await sent("fay@example.net");
  const { hot } = world.deps;
  await leaseEmail(hot, id);
  const block = "Final-Recipient: rfc822; fay@example.net\nAction: delivered\nStatus: 2.0.0\n";
  const bytes = dsn({ id: "four", to: returnPath, recipients: [block] });
  const { status, headers } = await handIn(bytes);
  expect({ status, again: headers["retry-after"] }).toEqual({ status: 503, again: expect.any(String) });
  await endLeases(hot, id, "sent");
  expect((await handIn(bytes)).body).toMatchObject({ recorded: 1 });
  expect(await statusOf(id)).toBe("delivered");
});

describe("rejects", () => {
  test("a body that is not an email message, with advice", async () => {
    expect(await handIn("no header at all")).toMatchObject(rejected(422, /no header/));
  });

  test.each(["?recipient=ann", "?recipient=a@b%20c", `?recipient=${"a".repeat(320)}@example.com`])(
    "an invalid recipient: %s",
    async (query) => {
      expect(await handIn("From: a@b.c\r\n\r\n", query)).toMatchObject(rejected(422, /`recipient`/));
    },
  );

  test("another content type, naming the expected one", async () => {
    expect(
      await world.api("POST", "/api/inbound/message", {
        token: world.deps.inboundToken ?? "",
        raw: "x",
        headers: { "content-type": "text/plain" },
      }),
    ).toMatchObject(rejected(415, /an email message.*message\/rfc822/));
  });
});

test("a person's reply is copied to the mailbox once, by the recipient in its header or its envelope", async () => {
  await setCopies(world.ctx, null, { bounceCopiesTo: null, replyCopiesTo: "ops@example.org" });
  const { returnPath } = await sent("di@example.net");
  const reply = `From: di@example.net\r\nTo: ${returnPath}\r\nMessage-ID: <reply@example.net>\r\n\r\nHi`;
  expect((await handIn(reply)).body).toMatchObject({ kind: "other", recorded: 0 });
  expect((await handIn(reply, `?recipient=${encodeURIComponent(returnPath)}`)).status).toBe(200);
  const copies = await world.hot`select kind, recipient, status from return_copies`;
  expect(copies).toEqual([{ kind: "reply", recipient: "ops@example.org", status: "queued" }]);
});
