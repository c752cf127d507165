import { createServer, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { createRelay } from "#server/mail/transport/relay";
import type { Transport } from "#server/mail/transport/transport";
import { closeAfterTest } from "../support/fixtures";
import { makeCertificate } from "../support/servers/certificate";
import { listenOnLoopback } from "../support/servers/free-port";
import {
  DROP,
  EHLO_PIPELINING,
  EHLO_PLAIN,
  type SmtpScript,
  type SmtpTestServer,
  startSmtpTestServer,
} from "../support/servers/smtp-test-server";
import { kinds, message, parsed, relayTo, targetOf, watch } from "./relay-world";

const RECIPIENTS = parsed(["one@example.org", "two@example.org"]);

async function open(script: SmtpScript): Promise<{ peer: SmtpTestServer; relay: Transport }> {
  const peer = closeAfterTest(await startSmtpTestServer({ ehlo: EHLO_PIPELINING, ...script }));
  return { peer, relay: closeAfterTest(relayTo(peer, "?pool=1")) };
}

const verbsOf = ({ commands }: SmtpTestServer) => commands.map((line) => line.slice(0, 4));

/** Waits until what a socket received contains this text, and returns everything before its end. */
async function receive(socket: Socket, text: string): Promise<string> {
  let received = "";
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    received += String(chunk);
    if (received.includes(text)) return received;
  }
  throw new Error(`The connection ended before ${JSON.stringify(text)}.`);
}

/** Writes each character by itself. */
async function writeSlowly(socket: Socket, text: string): Promise<void> {
  for (const char of text) {
    socket.write(char);
    await new Promise(setImmediate);
  }
}

test("the whole envelope is sent before the first reply, which may arrive in pieces and with bare LF", async () => {
  let envelope = "";
  let content = "";
  const converse = async (socket: Socket): Promise<void> => {
    socket.write("220 peer.test\r\n");
    await receive(socket, "\r\n");
    socket.write(`${EHLO_PIPELINING}\r\n`);
    envelope = await receive(socket, "DATA\r\n");
    await writeSlowly(
      socket,
      "250-2.1.0 one\r\n250 2.1.0 line\n250 2.1.5 ok\r\n\r\n550 5.1.1 \u00fc\r\n354 go\r\n",
    );
    content = await receive(socket, "\r\n.\r\n");
    await writeSlowly(socket, "250-2.0.0 kept\n250 2.0.0 it\n");
  };
  const server = createServer({ noDelay: true }, (socket) => {
    converse(socket).catch(() => socket.destroy());
    closeAfterTest({ close: () => socket.destroy() });
  });
  const port = await listenOnLoopback(server);
  closeAfterTest({ close: () => server.close() });
  const sent = message();
  const outcomes = await closeAfterTest(relayTo({ host: "127.0.0.1", port })).deliver(
    sent,
    RECIPIENTS,
    watch(),
  );
  expect(envelope).toBe(
    "MAIL FROM:<bounce@example.com>\r\nRCPT TO:<one@example.org>\r\nRCPT TO:<two@example.org>\r\nDATA\r\n",
  );
  expect(content).toBe(`${sent.bytes}.\r\n`);
  expect(kinds(outcomes)).toEqual(["accepted", "rejected"]);
  expect(outcomes.map(({ reply }) => reply?.text)).toEqual(["kept it", "\u00fc"]);
  expect(outcomes[0]?.dialogue).toMatch(
    /> MAIL FROM:<bounce@example\.com>\n< 250-2\.1\.0 one\n< 250 2\.1\.0 line\n> RCPT TO:<one@example\.org>\n< 250 2\.1\.5 ok\n> DATA\n< 354 go\n> \.\n< 250-2\.0\.0 kept\n< 250 2\.0\.0 it\n/,
  );
});

test("a server without PIPELINING gets the next command only if the replies before it allow it", async () => {
  const sender = await open({ ehlo: EHLO_PLAIN, mail: "550 5.7.1 not you" });
  expect(kinds(await sender.relay.deliver(message(), RECIPIENTS, watch()))).toEqual(["rejected", "rejected"]);
  expect(verbsOf(sender.peer)).not.toContain("RCPT");
  const recipients = await open({ ehlo: EHLO_PLAIN, rcpt: "550 5.1.1 nobody" });
  await recipients.relay.deliver(message(), RECIPIENTS, watch());
  expect(verbsOf(recipients.peer)).toEqual(expect.arrayContaining(["MAIL", "RCPT", "RCPT"]));
  expect(verbsOf(recipients.peer)).not.toContain("DATA");
});

describe("a server that replies 354 although it rejected every recipient", () => {
  const rcpt = ["550 5.1.1 nobody", "450 4.2.0 greylisted", "250 ok"];

  test("gets a final dot without content, and the connection is used for the next message", async () => {
    const { peer, relay } = await open({ rcpt, message: ["554 5.5.1 no recipients", "250 kept"] });
    expect(kinds(await relay.deliver(message(), RECIPIENTS, watch()))).toEqual(["rejected", "deferred"]);
    expect(peer.dataBytes().toString()).toBe(".\r\n");
    expect(kinds(await relay.deliver(message({ id: "m2" }), RECIPIENTS, watch()))).toEqual([
      "accepted",
      "accepted",
    ]);
    expect(peer.connections()).toBe(1);
  });

  test("leaves no unknown outcome if the connection is lost after that dot", async () => {
    const { relay } = await open({ rcpt, message: DROP });
    expect(kinds(await relay.deliver(message(), RECIPIENTS, watch()))).toEqual(["rejected", "deferred"]);
  });
});

test("a server that accepts recipients and DATA after it rejected the sender gets no message, not even an empty one", async () => {
  const { peer, relay } = await open({ mail: ["451 4.3.0 later", "250 ok"] });
  const outcomes = await relay.deliver(message(), RECIPIENTS, watch());
  expect(outcomes.map(({ kind, reply }) => `${kind} ${reply?.code}`)).toEqual([
    "deferred 451",
    "deferred 451",
  ]);
  await expect.poll(() => peer.open(), { timeout: 10_000 }).toBe(0);
  expect(kinds(await relay.deliver(message({ id: "m2" }), RECIPIENTS, watch()))).toEqual([
    "accepted",
    "accepted",
  ]);
  expect(peer.messages).toHaveLength(1);
});

test("more replies than commands break the connection, and do not change the outcome of the message", async () => {
  const { peer, relay } = await open({
    message: [Buffer.from("250 2.0.0 kept\r\n550 5.7.1 spam\r\n"), "250 2.0.0 kept"],
  });
  expect(kinds(await relay.deliver(message(), RECIPIENTS, watch()))).toEqual(["accepted", "accepted"]);
  await expect.poll(() => peer.open(), { timeout: 10_000 }).toBe(0);
  expect(kinds(await relay.deliver(message({ id: "m2" }), RECIPIENTS, watch()))).toEqual([
    "accepted",
    "accepted",
  ]);
  expect(peer.connections()).toBe(2);
});

test("a reply that is sent together with the 354 does not count as accepted, and the message is not sent", async () => {
  const { peer, relay } = await open({ data: Buffer.from("354 go\r\n250 2.0.0 kept\r\n") });
  expect(kinds(await relay.deliver(message(), RECIPIENTS, watch()))).toEqual(["deferred", "deferred"]);
  await expect.poll(() => peer.open(), { timeout: 10_000 }).toBe(0);
  expect(peer.commands.at(-1)).toBe("DATA");
});

describe("a message arrives byte for byte", () => {
  /** Two lines: the second begins at this offset of the message. */
  const dotAt = (offset: number) => `${"x".repeat(offset - 2)}\r\n.dot\r\n`;
  const contents: [what: string, content: string][] = [
    ["that is empty", ""],
    ["that is a dot", "."],
    ["that is a line with a dot", ".\r\n"],
    ["that begins with a dot", ".a\r\n"],
    ["with dots after line ends", "a\r\n.\r\n..\r\n...b\r\n\r\n.c\r\n"],
    ["that ends with a dot", "a\r\n."],
    ["that ends with a line with a dot", "a\r\n.\r\n"],
    ["that ends with lines with dots", "a\r\n.\r\n.\r\n"],
    ["without a last line end", "a\r\nb"],
    ["with dots around the end of a block", [0, 1, 2, 3].map((n) => dotAt(65_534 + n)).join("")],
    ["with a line of several blocks", `.${"x".repeat(200_000)}\r\n.end\r\n`],
    ["of several blocks without a line end", `.${"x".repeat(200_000)}`],
    ["of many lines with a dot", ".\r\n".repeat(100_000)],
  ];

  test.each(contents)("%s", async (_what, content) => {
    const { peer, relay } = await open({});
    const outcomes = await relay.deliver(message({ bytes: Buffer.from(content) }), RECIPIENTS, watch());
    expect(kinds(outcomes)).toEqual(["accepted", "accepted"]);
    const isWhole = content.endsWith("\r\n");
    expect(peer.messages[0]?.bytes.toString() === (isWhole ? content : `${content}\r\n`)).toBe(true);
  });

  test("over TLS, also if it is large", async () => {
    const certificate = makeCertificate();
    const peer = closeAfterTest(
      await startSmtpTestServer({ ehlo: EHLO_PIPELINING }, { implicitTls: true, certificate }),
    );
    const target = targetOf(`smtps://localhost:${peer.port}`);
    const relay = closeAfterTest(createRelay(target, { ca: certificate.cert }));
    const bodies = ["Hello.\r\n", "A line.\r\n.\r\n".repeat(100_000)];
    for (const [index, body] of bodies.entries()) {
      const sent = message({ id: `m${index}`, body });
      expect(kinds(await relay.deliver(sent, RECIPIENTS, watch()))).toEqual(["accepted", "accepted"]);
      expect(peer.messages[index]?.bytes.equals(sent.bytes)).toBe(true);
    }
    expect(peer.connections()).toBe(1);
  });
});
