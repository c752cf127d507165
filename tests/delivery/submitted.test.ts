import { beforeEach, expect, test } from "vitest";
import { withBody } from "#server/delivery/attempt/stored-messages";
import { relayTo } from "../mail/relay-world";
import { addSignedDomain, verifySigned } from "../support/dkim-verifier";
import { closeAfterTest, forEachTest } from "../support/fixtures";
import { deliverDue } from "../support/pump-engine";
import { EHLO_PLAIN, EHLO_SMTPUTF8, startSmtpTestServer } from "../support/servers/smtp-test-server";
import { createWorld } from "../support/world";

const world = forEachTest(() => createWorld({ transportKind: "relay" }));
beforeEach(async () => {
  await addSignedDomain(world, "signed.example");
});
async function deliver(ehlo = EHLO_PLAIN) {
  const peer = closeAfterTest(await startSmtpTestServer({ ehlo }));
  await deliverDue(world.withTransport(closeAfterTest(relayTo(peer))));
  return peer.messages.map(({ bytes }) => {
    const signatures = /^(DKIM-Signature:.*(\r\n[ \t].*)*\r\n)*/.exec(bytes.toString("latin1"))?.[0] ?? "";
    const usesSmtpUtf8 = peer.commands.some((line) => /^MAIL .*SMTPUTF8/.test(line));
    return { bytes, unsigned: bytes.subarray(signatures.length), signatures, usesSmtpUtf8 };
  });
}

const RAW = Buffer.from(
  [
    "From: Ann <ann@signed.example>",
    "To:   undisclosed-recipients:;",
    "subject:   odd\t spacing ",
    "X-Folded: one",
    "\ttwo",
    "Date: Mon, 2 Nov 2026 10:00:00 +0100",
    "Message-ID: <app-1@signed.example>",
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: 8bit",
    "",
    "Grüße",
    ".",
    "..dots",
    "trailing space ",
    "",
  ].join("\r\n"),
);
const submit = (bytes: Buffer = RAW, messageId: string | null = "app-1@signed.example") =>
  world.send({
    sender: "Ann <ann@signed.example>",
    html: null,
    text: "",
    raw: { bytes, messageId, fieldNames: [] },
  });

async function verify(messages: Buffer[]) {
  for (const results of (await verifySigned(world.ctx, "signed.example", messages)) ?? []) {
    expect(results.length).toBeGreaterThan(0);
    expect(results).not.toContain(false);
  }
}

test("a submitted message is sent byte for byte below our signature", async () => {
  await submit();
  const [message] = await deliver();
  expect(message?.unsigned.equals(RAW)).toBe(true);
  expect(message?.signatures).toContain("d=signed.example");
  await verify(message ? [message.bytes] : []);
});

test("8-bit content is converted before signing for a server without 8BITMIME", async () => {
  await submit();
  const [message] = await deliver("250 peer.test");
  expect(message?.bytes.toString("latin1")).toMatch(/^[\0-\x7f]*$/);
  expect(message?.unsigned.toString()).toContain("subject:   odd\t spacing \r\nX-Folded: one\r\n\ttwo\r\n");
  expect(message?.unsigned.toString()).toMatch(/Content-Transfer-Encoding: (quoted-printable|base64)/);
  await verify(message ? [message.bytes] : []);
});

test("a missing Date and Message-ID are added, and nothing else", async () => {
  const bare = Buffer.from("From: ann@signed.example\r\n\r\nx\r\n");
  const { id } = await submit(bare, null);
  const [message] = await deliver();
  const added = message?.unsigned.toString() ?? "";
  expect(added).toMatch(
    /^Date: .* \+0000\r\nMessage-ID: <.*@signed\.example>\r\nFrom: ann@signed\.example\r\n\r\nx\r\n$/,
  );
  expect(added).toContain(`<${(await world.email(id)).messageId}>`);
});

test("only the HTML of a tracked domain is rewritten", async () => {
  await world.hot`update domains set click_tracking = true, open_tracking = true where name = 'signed.example'`;
  const html = '<p>Größe <a href="https://example.net/a">a</a></p>';
  const raw = Buffer.from(
    `From: ann@signed.example\r\nDate: x\r\nMessage-ID: <a@b>\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\n\r\nplain https://example.net/a\r\n--b\r\nContent-Type: text/html; charset=iso-8859-1\r\n\r\n${html}\r\n--b--\r\n`,
    "latin1",
  );
  await world.send({
    sender: "Ann <ann@signed.example>",
    html,
    text: "plain",
    raw: { bytes: raw, messageId: null, fieldNames: [] },
  });
  const [message] = await deliver();
  const text = message?.unsigned.toString() ?? "";
  expect(text).toContain("plain https://example.net/a\r\n--b\r\n");
  expect(text).not.toContain('href="https://example.net/a"');
  expect(text).toContain("charset=utf-8");
  await verify(message ? [message.bytes] : []);
});

test("a From header that differs from the checked sender is never sent", async () => {
  const { id } = await submit(Buffer.from("From: eve@example.net\r\n\r\nx\r\n"));
  expect(await deliver()).toEqual([]);
  expect((await world.email(id)).status).toBe("failed");
});

test("UTF-8 header fields need a server with SMTPUTF8", async () => {
  const rejected = await submit(Buffer.from("From: ann@signed.example\r\nSubject: Grüße\r\n\r\nx\r\n"));
  expect(await deliver()).toEqual([]);
  const [delivery] = (await world.email(rejected.id)).deliveries;
  expect(delivery?.lastReason).toMatch(/^The message header is not ASCII and needs SMTPUTF8/);
  const { id } = await submit(Buffer.from("From: ann@signed.example\r\nSubject: Grüße\r\n\r\nx\r\n"));
  const [message] = await deliver(EHLO_SMTPUTF8);
  expect(message?.unsigned.toString()).toContain("Subject: Grüße\r\n");
  expect(message?.usesSmtpUtf8).toBe(true);
  expect((await world.email(id)).status).toBe("sent");
});

test.each([
  [
    "a preamble",
    "Content-Type: multipart/mixed; boundary=b\r\n\r\nVorgeplänkel\r\n--b\r\n\r\nx\r\n--b--\r\n",
  ],
  ["an embedded message", "Content-Type: message/rfc822\r\n\r\nSubject: Grüße\r\n\r\nx\r\n"],
  ["a stray byte in quoted-printable", "Content-Transfer-Encoding: quoted-printable\r\n\r\ngrün\r\n"],
])("8-bit bytes in %s do not need SMTPUTF8", async (_name, rest) => {
  const raw = Buffer.from(`From: ann@signed.example\r\nDate: x\r\nMessage-ID: <a@b>\r\n${rest}`);
  const { id } = await submit(raw);
  const [message] = await deliver();
  expect(message?.unsigned.equals(raw)).toBe(true);
  expect((await world.email(id)).status).toBe("sent");
});

test("an attempt does not read the files of a message that contains them", async () => {
  const { id } = await submit();
  await world.hot`insert into attachments (id, team_id, email_id, position, filename, content_type, size_bytes, content)
    select gen_random_uuid(), team_id, id, 0, 'a.txt', 'text/plain', 1, 'x' from emails where id = ${id}`;
  const stored = await withBody(world.hot, { id, teamId: world.ctx.teamId, hasBody: false } as never);
  expect(stored.raw).not.toBeNull();
  expect(stored.files).toEqual([]);
});
