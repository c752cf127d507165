import { afterEach, describe, expect, test, vi } from "vitest";
import type { RelayOptions } from "#server/mail/transport/relay";
import { RELAY_TIMEOUTS } from "#server/mail/transport/smtp/timeouts";
import type { DeliveryWatch, Transport } from "#server/mail/transport/transport";
import { closeAfterTest } from "../support/fixtures";
import { createGate } from "../support/gate";
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
const LARGE_BODY = `${"0123456789".repeat(7)}\r\n`.repeat(120_000);
const DIALECTS = { "one command at a time": EHLO_PLAIN, pipelined: EHLO_PIPELINING };

const DAY_MS = 86_400_000;

let peer: SmtpTestServer;
let relay: Transport;

/** Lets the timers of this process run that far while the promise is pending. */
async function elapsing<T>(pending: Promise<T>, ms: number): Promise<T> {
  // The earlier replies are in the socket: a few turns of the event loop later, the last one is awaited.
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  await vi.advanceTimersByTimeAsync(ms);
  return pending;
}

async function begin(script: SmtpScript, options: RelayOptions = {}, query = ""): Promise<void> {
  peer = closeAfterTest(await startSmtpTestServer(script));
  relay = closeAfterTest(relayTo(peer, query, options));
}

afterEach(async () => {
  vi.useRealTimers();
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
    expect(outcomes[0]?.reason).not.toMatch(/[^.] The message|timed out/);
    expect(outcomes[0]?.dialogue).toContain("> MAIL FROM:<bounce@example.com>");
    expect(outcomes[0]?.dialogue).not.toContain("0123456789");
  });

  const silent: [where: string, step: "mail" | "rcpt" | "data" | "message", limitMs: number, kind: string][] =
    [
      ["MAIL", "mail", RELAY_TIMEOUTS.commandMs, "deferred"],
      ["RCPT", "rcpt", RELAY_TIMEOUTS.commandMs, "deferred"],
      ["DATA", "data", RELAY_TIMEOUTS.dataMs, "deferred"],
      ["the final dot", "message", RELAY_TIMEOUTS.finalMs, "unknown"],
    ];

  describe.each(silent)("a server that never responds to %s", (_where, step, limitMs, kind) => {
    /** Starts an attempt, and returns it when the server has received what it does not respond to. */
    async function startAttempt(more: Partial<DeliveryWatch>) {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      const reached = createGate();
      await begin({
        ehlo,
        [step]: () => {
          reached.open();
          return HANG;
        },
      });
      const delivering = relay.deliver(message(), parsed(RECIPIENTS), watch({ deadlineMs: DAY_MS, ...more }));
      await reached.passed;
      return {
        delivering: delivering.then((outcomes) => ({ kinds: kinds(outcomes), reason: outcomes[0]?.reason })),
      };
    }
    const outcome = { kinds: [kind, kind, kind] };

    test("times out at the limit of that step", async () => {
      const { delivering } = await startAttempt({});
      expect(await elapsing(delivering, limitMs)).toEqual({
        ...outcome,
        reason: expect.stringContaining(`within ${limitMs / 1_000} s.`),
      });
    });

    test("times out at the deadline of the attempt", async () => {
      const { delivering } = await startAttempt({ deadlineMs: 60_000 });
      expect(await elapsing(delivering, 60_000)).toEqual({
        ...outcome,
        reason: expect.stringContaining("timed out after 60 s"),
      });
    });

    test("leaves the same outcome if the caller aborts", async () => {
      const controller = new AbortController();
      const { delivering } = await startAttempt({ signal: controller.signal });
      controller.abort();
      expect(await delivering).toMatchObject(outcome);
    });
  });

  test("a server that stops reading a large message times out: deferred", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const reached = createGate();
    const body = (): typeof HANG => {
      reached.open();
      return HANG;
    };
    await begin({ ehlo, body });
    const delivering = relay.deliver(
      message({ body: LARGE_BODY }),
      parsed(RECIPIENTS),
      watch({ deadlineMs: DAY_MS }),
    );
    await reached.passed;
    const outcomes = await elapsing(delivering, RELAY_TIMEOUTS.blockMs);
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

  test.each([
    ["without a word", ""],
    ["with a late 421", "421 4.4.2 idle too long"],
  ])("a reused connection that closes at MAIL %s is replaced within the attempt", async (_how, bye) => {
    await begin({ ehlo, mail: ["250 ok", { bye }, "250 ok"] }, {}, "?pool=1");
    for (const id of ["m1", "m2"])
      expect(kinds(await relay.deliver(message({ id }), parsed(["b@example.org"]), watch()))).toEqual([
        "accepted",
      ]);
    expect(peer.messages).toHaveLength(2);
    expect(peer.connections()).toBe(2);
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
    const [held, reading] = [createGate(), createGate()];
    const hold = async (): Promise<typeof PASS> => {
      held.open();
      await reading.passed;
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
    await held.passed;
    expect(asked).toBe(0);
    reading.open();
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
