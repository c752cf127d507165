import { expect, test } from "vitest";
import { DIALOGUE_MAX } from "#server/mail/transport/smtp/transcript";
import type { Transport } from "#server/mail/transport/transport";
import { closeAfterTest } from "../support/fixtures";
import { createGate } from "../support/gate";
import { EHLO_SMTPUTF8, type SmtpTestServer, startSmtpTestServer } from "../support/servers/smtp-test-server";
import { kinds, message, parsed, relayTo, watch } from "./relay-world";

async function sinkAndRelay(query = "", options = {}): Promise<{ sink: SmtpTestServer; relay: Transport }> {
  const sink = closeAfterTest(await startSmtpTestServer());
  return { sink, relay: closeAfterTest(relayTo(sink, query, options)) };
}

test("a normal server gets the envelope and the exact bytes, and the outcome contains its reply", async () => {
  const { sink, relay } = await sinkAndRelay();
  const body = "A line.\r\n.\r\n.. dots\r\n.end\r\n";
  const sent = message({ body });
  const outcomes = await relay.deliver(sent, parsed(["b@example.org", "c@example.org"]), watch());
  expect(kinds(outcomes)).toEqual(["accepted", "accepted"]);
  expect(outcomes[0]).toMatchObject({ recipient: "b@example.org", host: "127.0.0.1", reply: { code: 250 } });
  expect(sink.messages).toHaveLength(1);
  expect(sink.messages[0]).toMatchObject({
    from: "bounce@example.com",
    to: ["b@example.org", "c@example.org"],
  });
  expect(sink.messages[0]?.bytes.equals(sent.bytes)).toBe(true);
});

test("the null sender and a repeated address are sent correctly", async () => {
  const { sink, relay } = await sinkAndRelay();
  const twice = ["b@example.org", "b@example.org"];
  expect(kinds(await relay.deliver(message({ returnPath: "" }), parsed(twice), watch()))).toEqual([
    "accepted",
    "accepted",
  ]);
  expect(sink.messages[0]).toMatchObject({ from: "", to: ["b@example.org"] });
});

test("connections are reused, never exceed the pool size, and are replaced after their maximum of messages", async () => {
  const { sink, relay } = await sinkAndRelay("?pool=3", { messagesPerConnection: 10 });
  const ids = Array.from({ length: 60 }, (_, index) => `m${index}`);
  const outcomes = await Promise.all(
    ids.map((id) => relay.deliver(message({ id }), parsed(["b@example.org"]), watch())),
  );
  expect(new Set(kinds(outcomes.flat()))).toEqual(new Set(["accepted"]));
  expect(sink.messages).toHaveLength(60);
  expect(sink.connections()).toBeGreaterThanOrEqual(6);
  expect(sink.connections()).toBeLessThanOrEqual(9);
});

test("an idle connection that the server closed causes no failed attempt", async () => {
  const peer = closeAfterTest(await startSmtpTestServer({}));
  const relay = closeAfterTest(relayTo(peer, "?pool=1"));
  expect(kinds(await relay.deliver(message(), parsed(["b@example.org"]), watch()))).toEqual(["accepted"]);
  peer.dropAll();
  expect(kinds(await relay.deliver(message({ id: "m2" }), parsed(["b@example.org"]), watch()))).toEqual([
    "accepted",
  ]);
  expect(peer.messages).toHaveLength(2);
});

test("an idle connection is closed after its time", async () => {
  const peer = closeAfterTest(await startSmtpTestServer({}));
  const relay = closeAfterTest(relayTo(peer, "", { idleMs: 50 }));
  await relay.deliver(message(), parsed(["b@example.org"]), watch());
  await expect.poll(() => peer.open(), { timeout: 10_000 }).toBe(0);
  expect(peer.commands.at(-1)).toBe("QUIT");
});

test("a server that accepts fewer connections than the pool allows receives all emails over those", async () => {
  let connected = 0;
  const peer = closeAfterTest(
    await startSmtpTestServer({
      greeting: () => {
        connected += 1;
        return connected === 1 ? "220 hello" : { bye: "421 4.7.0 too many connections" };
      },
    }),
  );
  const relay = closeAfterTest(relayTo(peer, "?pool=5"));
  expect(kinds(await relay.deliver(message(), parsed(["b@example.org"]), watch()))).toEqual(["accepted"]);
  const ids = Array.from({ length: 20 }, (_, index) => `n${index}`);
  const outcomes = await Promise.all(
    ids.map((id) => relay.deliver(message({ id }), parsed(["b@example.org"]), watch())),
  );
  expect(new Set(kinds(outcomes.flat()))).toEqual(new Set(["accepted"]));
  expect(peer.messages).toHaveLength(21);
});

test("an email without a free connection before its deadline is deferred and not sent", async () => {
  const { passed: held, open: answer } = createGate();
  const peer = closeAfterTest(
    await startSmtpTestServer({
      message: async () => {
        await held;
        return "250 kept";
      },
    }),
  );
  const relay = closeAfterTest(relayTo(peer, "?pool=1"));
  const first = relay.deliver(message(), parsed(["b@example.org"]), watch());
  await expect.poll(() => peer.messages.length, { timeout: 10_000 }).toBe(1);
  const second = await relay.deliver(
    message({ id: "m2" }),
    parsed(["b@example.org"]),
    watch({ deadlineMs: 100 }),
  );
  expect(kinds(second)).toEqual(["deferred"]);
  answer();
  expect(kinds(await first)).toEqual(["accepted"]);
  expect(peer.messages).toHaveLength(1);
});

test.each([
  ["a port without a server", null],
  ["a server that hangs up before its greeting", { greeting: { bye: "" } }],
  ["a server that rejects with 554 in its greeting", { greeting: { bye: "554 5.7.1 go away" } }],
  ["a server that rejects with 421 in its greeting", { greeting: { bye: "421 4.3.2 busy" } }],
  ["a server that is none of SMTP", { greeting: "HTTP/1.1 400 Bad Request" }],
  ["a server that rejects EHLO and HELO", { ehlo: "502 no", helo: "502 no" }],
])('%s defers emails with the alarm "connect"', async (_what, script) => {
  const peer = await startSmtpTestServer(script ?? {});
  if (script === null) await peer.close();
  else closeAfterTest(peer);
  const relay = closeAfterTest(relayTo(peer));
  const [outcome] = await relay.deliver(message(), parsed(["b@example.org"]), watch());
  expect(outcome).toMatchObject({ kind: "deferred", alarm: "connect" });
  expect(peer.messages).toEqual([]);
});

test("a reply of many megabytes, with or without line ends, closes the connection and is not stored", async () => {
  for (const flood of [Buffer.alloc(5_000_000, "x"), Buffer.from("250-more\r\n".repeat(500_000))]) {
    const peer = await startSmtpTestServer({ mail: flood });
    const relay = relayTo(peer);
    const [outcome] = await relay.deliver(message(), parsed(["b@example.org"]), watch());
    expect(outcome?.kind).toBe("deferred");
    expect(outcome?.dialogue?.length).toBeLessThanOrEqual(DIALOGUE_MAX);
    await relay.close();
    await peer.close();
  }
});

test("hostile reply texts are converted to plain text", async () => {
  const peer = closeAfterTest(
    await startSmtpTestServer({ rcpt: "550 5.1.1 \u0000<img onerror=x>\u001b[31m\u0085bad" }),
  );
  const relay = closeAfterTest(relayTo(peer));
  const [outcome] = await relay.deliver(message(), parsed(["b@example.org"]), watch());
  expect(outcome?.kind).toBe("rejected");
  expect(outcome?.reply?.text).toBe("<img onerror=x> [31m bad");
  expect(`${outcome?.reason}${outcome?.dialogue?.replaceAll("\n", "")}`).not.toMatch(/\p{Cc}/u);
});

test("bare line ends and lone dots in a body cannot end the message early", async () => {
  const peer = closeAfterTest(await startSmtpTestServer({}));
  const relay = closeAfterTest(relayTo(peer));
  const smuggled = "MAIL FROM:<evil@example.com>\r\nRCPT TO:<victim@example.org>\r\nDATA\r\nevil";
  const bodies = ["\n.\n", "\r.\r", "\r\n.\r", "\n.\r\n", "\r\n.\n", "\r.\r\n", "\r\n.\r\n"];
  for (const end of bodies) {
    const outcomes = await relay.deliver(
      message({ body: `one${end}${smuggled}\r\n` }),
      parsed(["b@example.org"]),
      watch(),
    );
    expect(kinds(outcomes)).toEqual(["accepted"]);
  }
  expect(peer.messages).toHaveLength(bodies.length);
  expect(peer.commands.filter((line) => line.includes("evil"))).toEqual([]);
  expect(peer.dataBytes().toString("latin1")).not.toMatch(/[^\r]\n|\r[^\n]/);
});

test("a message above the announced SIZE is rejected without being sent", async () => {
  const sink = closeAfterTest(await startSmtpTestServer({ ehlo: "250-peer.test\r\n250 SIZE 1000" }));
  const relay = closeAfterTest(relayTo(sink));
  const [outcome] = await relay.deliver(
    message({ body: "x\r\n".repeat(1000) }),
    parsed(["b@example.org"]),
    watch(),
  );
  expect(outcome).toMatchObject({ kind: "rejected", reply: null });
  expect(outcome?.reason).toContain("at most 1000");
  expect(kinds(await relay.deliver(message(), parsed(["b@example.org"]), watch()))).toEqual(["accepted"]);
  expect(sink.messages).toHaveLength(1);
});

test("an address that needs SMTPUTF8 is sent if it is offered, and rejected alone otherwise", async () => {
  const recipients = ["b@example.org", "jörg@example.org"];
  const modern = closeAfterTest(await startSmtpTestServer({ ehlo: EHLO_SMTPUTF8 }));
  expect(
    kinds(await closeAfterTest(relayTo(modern)).deliver(message(), parsed(recipients), watch())),
  ).toEqual(["accepted", "accepted"]);
  expect(modern.messages[0]?.to).toEqual(recipients);

  const old = closeAfterTest(await startSmtpTestServer());
  const relay = closeAfterTest(relayTo(old));
  const outcomes = await relay.deliver(message(), parsed(recipients), watch());
  expect(kinds(outcomes)).toEqual(["accepted", "rejected"]);
  expect(old.messages[0]?.to).toEqual(["b@example.org"]);
  expect(kinds(await relay.deliver(message({ smtpUtf8: true }), parsed(recipients), watch()))).toEqual([
    "rejected",
    "rejected",
  ]);
  expect(old.messages).toHaveLength(1);
});

test("the dialogue of an outcome shows its own recipient and only counts the others", async () => {
  const { relay } = await sinkAndRelay();
  const outcomes = await relay.deliver(
    message(),
    parsed(["b@example.org", "secret@example.org", "c@example.org"]),
    watch(),
  );
  const dialogue = outcomes[0]?.dialogue ?? "";
  expect(dialogue).toContain("< 220 ");
  expect(dialogue).toContain("> RCPT TO:<b@example.org>");
  expect(dialogue).toContain("2 other recipients");
  expect(dialogue).not.toContain("secret");
});

test("a closed relay waits for running deliveries and accepts no more", async () => {
  const { sink, relay } = await sinkAndRelay();
  const delivering = relay.deliver(message(), parsed(["b@example.org"]), watch());
  await relay.close();
  expect(kinds(await delivering)).toEqual(["accepted"]);
  expect(kinds(await relay.deliver(message({ id: "m2" }), parsed(["b@example.org"]), watch()))).toEqual([
    "deferred",
  ]);
  expect(sink.messages).toHaveLength(1);
});
