import { afterEach, describe, expect, test } from "vitest";
import type { RelayOptions } from "#server/mail/transport/relay";
import type { Transport } from "#server/mail/transport/transport";
import {
  DROP,
  EHLO_PIPELINING,
  EHLO_PLAIN,
  HANG,
  PASS,
  type SmtpScript,
  type SmtpTestServer,
  startSmtpTestServer,
} from "../support/servers/smtp-test-server";
import { kinds, message, parsed, relayTo, watch } from "./relay-world";

const RECIPIENTS = ["one@example.org", "two@example.org", "three@example.org"];
/** More than the socket buffers hold, so that sending waits until the server reads. */
const LARGE_BODY = `${"0123456789".repeat(7)}\r\n`.repeat(300_000);
const DIALECTS = { "one command at a time": EHLO_PLAIN, pipelined: EHLO_PIPELINING };

let peer: SmtpTestServer;
let relay: Transport;

async function begin(script: SmtpScript, options: RelayOptions = {}, query = ""): Promise<void> {
  peer = await startSmtpTestServer(script);
  relay = relayTo(peer, query, options);
}

afterEach(async () => {
  await relay.close();
  await peer.close();
});

describe.each(Object.entries(DIALECTS))("a dialogue %s", (_name, ehlo) => {
  const broken: [where: string, script: SmtpScript, kind: string][] = [
    ["at MAIL", { mail: DROP }, "deferred"],
    ["at RCPT", { rcpt: DROP }, "deferred"],
    ["at DATA, before its 354", { data: DROP }, "deferred"],
    ["right after the 354", { data: { bye: "354 go ahead" } }, "deferred"],
    ["in the middle of the message", { body: DROP }, "deferred"],
    ["after the final dot", { message: DROP }, "unknown"],
    ["at MAIL, with 421", { mail: { bye: "421 4.3.2 closing" } }, "deferred"],
    ["at RCPT, with 421", { rcpt: { bye: "421 4.3.2 closing" } }, "deferred"],
    ["at DATA, with 421", { data: { bye: "421 4.3.2 closing" } }, "deferred"],
    ["after the final dot, with 421", { message: { bye: "421 4.3.2 closing" } }, "deferred"],
  ];

  test.each(broken)("a dialogue that ends %s is judged by its replies", async (_where, script, kind) => {
    await begin({ ehlo, ...script });
    const sent = script.body || script.data ? message({ body: LARGE_BODY }) : message();
    const outcomes = await relay.deliver(sent, parsed(RECIPIENTS), watch());
    expect(outcomes.map((outcome) => outcome.recipient)).toEqual(RECIPIENTS);
    expect(kinds(outcomes)).toEqual([kind, kind, kind]);
    expect(peer.messages).toHaveLength(script.message === undefined ? 0 : 1);
    expect(outcomes[0]?.reason).not.toMatch(/[^.] The message/);
    expect(outcomes[0]?.dialogue).toContain("> MAIL FROM:<bounce@example.com>");
    expect(outcomes[0]?.dialogue).not.toContain("0123456789");
  });

  const silent: [where: string, script: SmtpScript, kind: string][] = [
    ["MAIL", { mail: HANG }, "deferred"],
    ["RCPT", { rcpt: HANG }, "deferred"],
    ["DATA", { data: HANG }, "deferred"],
    ["the final dot", { message: HANG }, "unknown"],
  ];
  const short = { connectMs: 200, commandMs: 200, dataMs: 200, blockMs: 200, finalMs: 200 };

  test.each(silent)(
    "a server that never responds to %s times out at the limit of that step",
    async (_where, script, kind) => {
      await begin({ ehlo, ...script }, { timeouts: short });
      const outcomes = await relay.deliver(message(), parsed(RECIPIENTS), watch());
      expect(kinds(outcomes)).toEqual([kind, kind, kind]);
      expect(outcomes[0]?.reason).toContain("0.2 s");
    },
  );

  test.each(silent)(
    "a server that never responds to %s times out at the deadline of the attempt",
    async (_where, script, kind) => {
      await begin({ ehlo, ...script });
      const outcomes = await relay.deliver(message(), parsed(RECIPIENTS), watch({ deadlineMs: 300 }));
      expect(kinds(outcomes)).toEqual([kind, kind, kind]);
      expect(outcomes[0]?.reason).toContain("timed out after 0.3 s");
    },
  );

  test.each(silent)(
    "a caller that aborts while %s has no reply gets the same outcome immediately",
    async (where, script, kind) => {
      await begin({ ehlo, ...script });
      const controller = new AbortController();
      const delivering = relay.deliver(message(), parsed(RECIPIENTS), watch({ signal: controller.signal }));
      const seen =
        where === "the final dot"
          ? () => peer.messages.length > 0
          : () => peer.commands.some((line) => line.startsWith(where));
      await expect.poll(seen, { timeout: 10_000 }).toBe(true);
      controller.abort();
      expect(kinds(await delivering)).toEqual([kind, kind, kind]);
    },
  );

  test("a server that stops reading a large message times out: deferred", async () => {
    await begin({ ehlo, body: HANG }, { timeouts: { ...short, blockMs: 300 } });
    const outcomes = await relay.deliver(message({ body: LARGE_BODY }), parsed(RECIPIENTS), watch());
    expect(kinds(outcomes)).toEqual(["deferred", "deferred", "deferred"]);
    expect(outcomes[0]?.reason).toContain("during the message transfer");
  });

  const verdicts: [where: string, script: SmtpScript, kind: string, code: number | null][] = [
    ["a rejected sender", { mail: "550 5.7.1 not you" }, "rejected", 550],
    ["a temporarily rejected sender", { mail: "451 4.3.0 later" }, "deferred", 451],
    ["a rejected DATA", { data: "554 5.5.1 no valid recipients" }, "rejected", 554],
    ["a temporarily rejected DATA", { data: "451 4.3.0 later" }, "deferred", 451],
    ["a rejected message", { message: "554 5.7.1 spam" }, "rejected", 554],
    ["a temporarily rejected message", { message: "452 4.3.1 disk full" }, "deferred", 452],
    ["an invalid reply to MAIL", { mail: "garbage" }, "deferred", null],
    ["an invalid reply to RCPT", { rcpt: "garbage" }, "deferred", null],
    ["an invalid reply to DATA", { data: "garbage" }, "deferred", null],
    ["an invalid reply to the message", { message: "garbage" }, "deferred", null],
  ];

  test.each(verdicts)("%s counts for all recipients", async (_what, script, kind, code) => {
    await begin({ ehlo, ...script });
    const outcomes = await relay.deliver(message(), parsed(RECIPIENTS), watch());
    expect(kinds(outcomes)).toEqual([kind, kind, kind]);
    expect(outcomes.map((outcome) => outcome.reply?.code)).toEqual([code, code, code]);
  });

  test("each recipient has its own reply if some are accepted", async () => {
    const rcpt = ({ address }: { address: string }) =>
      ({ "one@example.org": "550 5.1.1 nobody", "two@example.org": "250 ok" })[address] ??
      "450 4.2.0 greylisted";
    await begin({ ehlo, rcpt });
    const outcomes = await relay.deliver(message(), parsed(RECIPIENTS), watch());
    expect(kinds(outcomes)).toEqual(["rejected", "accepted", "deferred"]);
    expect(outcomes.map((outcome) => outcome.reply?.code)).toEqual([550, 250, 450]);
    expect(peer.messages.map((sent) => sent.to)).toEqual([["two@example.org"]]);
  });

  test("each recipient has its own reply if none is accepted, and the connection is used for the next message", async () => {
    const rcpt = ({ address, nth }: { address: string; nth: number }) =>
      nth > 2 ? "250 ok" : address === "two@example.org" ? "450 4.2.0 greylisted" : "550 5.1.1 nobody";
    await begin(
      {
        ehlo,
        rcpt,
        data: ({ nth }) => (ehlo === EHLO_PIPELINING && nth === 0 ? "554 no valid recipients" : "354 go"),
      },
      {},
      "?pool=1",
    );
    const outcomes = await relay.deliver(message(), parsed(RECIPIENTS), watch());
    expect(kinds(outcomes)).toEqual(["rejected", "deferred", "rejected"]);
    expect(outcomes.map((outcome) => outcome.reply?.code)).toEqual([550, 450, 550]);
    expect(kinds(await relay.deliver(message({ id: "m2" }), parsed(RECIPIENTS), watch()))).toEqual([
      "accepted",
      "accepted",
      "accepted",
    ]);
    expect(peer.connections()).toBe(1);
    expect(peer.commands).toContain("RSET");
  });

  test("a rejected recipient stays rejected if the connection is lost after the dot", async () => {
    await begin({ ehlo, rcpt: ["550 5.1.1 nobody", "250 ok"], message: DROP });
    expect(kinds(await relay.deliver(message(), parsed(RECIPIENTS), watch()))).toEqual([
      "rejected",
      "unknown",
      "unknown",
    ]);
  });

  test("a positive reply before the message is complete does not count as accepted", async () => {
    await begin({ ehlo, body: { hold: "250 2.0.0 taken already" } });
    const outcomes = await relay.deliver(message({ body: LARGE_BODY }), parsed(RECIPIENTS), watch());
    expect(kinds(outcomes)).toEqual(["deferred", "deferred", "deferred"]);
    expect(peer.messages).toEqual([]);
  });

  test("a rejection before the message is complete rejects the message", async () => {
    await begin({ ehlo, body: { hold: "552 5.3.4 too big" } });
    const outcomes = await relay.deliver(message({ body: LARGE_BODY }), parsed(RECIPIENTS), watch());
    expect(kinds(outcomes)).toEqual(["rejected", "rejected", "rejected"]);
    expect(outcomes[0]?.reply).toMatchObject({ code: 552, enhanced: "5.3.4" });
  });
});

describe("a lease lost during the dialogue", () => {
  test("withholds the final dot, and the message is not delivered", async () => {
    await begin({});
    const outcomes = await relay.deliver(message(), parsed(RECIPIENTS), watch({ isLeaseValid: () => false }));
    expect(kinds(outcomes)).toEqual(["deferred", "deferred", "deferred"]);
    expect(outcomes[0]?.reason).toBe("The lease was lost before the final dot.");
    await expect.poll(() => peer.open(), { timeout: 10_000 }).toBe(0);
    expect(peer.messages).toEqual([]);
  });

  test("is detected after the body of a large message was sent, however long that took", async () => {
    let read = () => {};
    const reading = new Promise<void>((resolve) => {
      read = resolve;
    });
    let isHeld = false;
    const hold = async (): Promise<typeof PASS> => {
      isHeld = true;
      await reading;
      return PASS;
    };
    await begin({ body: hold });
    let asked = 0;
    const isLeaseValid = () => {
      asked += 1;
      return false;
    };
    const delivering = relay.deliver(
      message({ body: LARGE_BODY }),
      parsed(["one@example.org"]),
      watch({ isLeaseValid }),
    );
    await expect.poll(() => isHeld, { timeout: 10_000 }).toBe(true);
    expect(asked).toBe(0);
    read();
    expect(kinds(await delivering)).toEqual(["deferred"]);
    expect(asked).toBe(1);
    await expect.poll(() => peer.open(), { timeout: 10_000 }).toBe(0);
    expect(peer.messages).toEqual([]);
  });

  test("counts as lost if the lease cannot be checked", async () => {
    await begin({});
    const isLeaseValid = () => {
      throw new Error("no database");
    };
    expect(kinds(await relay.deliver(message(), parsed(RECIPIENTS), watch({ isLeaseValid })))).toEqual([
      "deferred",
      "deferred",
      "deferred",
    ]);
    expect(peer.messages).toEqual([]);
  });
});
