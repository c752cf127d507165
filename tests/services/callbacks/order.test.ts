import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { claimDeliveries, markHandedOver } from "#db/queue";
import { recordResults } from "#db/results";
import { newId } from "#server/ids";
import type { Callback } from "#server/mail/callbacks/callback";
import { receiveCallback } from "#server/services/callbacks/receive";
import { setCallback } from "#server/services/callbacks/secrets";
import { findRelay } from "#server/services/relays/read";
import { receiveMessage } from "#server/services/returns/receive";
import { arf, dsn, failed } from "../../mail/bounce/messages";
import { attemptResult } from "../../support/attempt-result";
import { type House, openHouse } from "../../support/house";
import { type FakeProvider, fakeSendgrid, type Telling } from "../../support/providers";
import { relayTo } from "../../support/relays";

/*
 * One mail's whole story, by all the ways in which it comes back: the result of its attempt, reports on delivery and
 * complaints by mail, and calls of the provider behind its relay, some of them twice.
 */

const names = { mailHost: null, returnPathDomain: "bounces.example.com", webHost: null };
let house: House;
let fake: FakeProvider;
let relayId: string;
beforeAll(async () => {
  house = await openHouse({ transportKind: "relay", names });
  fake = fakeSendgrid();
  const made = await relayTo(house.deps, { port: 9 }, { provider: fake.provider });
  await setCallback(house.deps, await findRelay(house.deps, made.id), fake.given);
  relayId = made.id;
});
afterAll(() => house.close());

const STEPS = [
  "result",
  "told delivered",
  "told bounced",
  "told of a full mailbox",
  "told delayed",
  "told complained",
  "report of failure",
  "report of a full mailbox",
  "report of success",
  "report of delay",
  "complaint by mail",
] as const;
type Step = (typeof STEPS)[number];

const RESULTS = ["sent", "unknown", "queued", "bounced"] as const;
type Result = (typeof RESULTS)[number];

/** What there is to know, in one order and in another; one of it, at least, comes twice. */
const story = fc
  .record({
    result: fc.constantFrom(...RESULTS),
    others: fc.uniqueArray(fc.constantFrom(...STEPS.slice(1)), { minLength: 1, maxLength: 4 }),
  })
  .chain(({ result, others }) => {
    const steps: Step[] = ["result", ...others, ...others.slice(0, 1)];
    const shuffled = fc.shuffledSubarray(steps, { minLength: steps.length, maxLength: steps.length });
    return fc.record({ result: fc.constant(result), one: shuffled, other: shuffled });
  });

const TELLINGS: Partial<Record<Step, [kind: Telling["kind"], said?: string]>> = {
  "told delivered": ["delivered"],
  "told bounced": ["bounced", "550 5.1.1 User unknown"],
  "told of a full mailbox": ["bounced", "552 5.2.2 Mailbox full"],
  "told delayed": ["delayed", "451 4.3.0 Later"],
  "told complained": ["complained"],
};

/** Lives through a story; tells how the delivery, its mail and the list of suppressed addresses stand in the end. */
async function live(result: Result, steps: readonly Step[]) {
  const address = `${newId()}@example.net`;
  const providerId = fake.newProviderId("");
  const { id: emailId } = await house.send({ to: [address] });
  const [claim] = await claimDeliveries(house.hot, { limit: 10, leaseToken: newId() });
  if (!claim) throw new Error("nothing was claimed");
  await markHandedOver(house.hot, [claim]);
  const path = `${house.deps.recipientTokens.returnPath(claim.id)}@bounces.example.com`;

  const bodies = new Map<Step, unknown>();
  const call = async (step: Step, [kind, said]: [Telling["kind"], said?: string]): Promise<boolean> => {
    const body =
      bodies.get(step) ?? fake.tell({ kind, address, providerId, at: new Date(), ...(said && { said }) });
    bodies.set(step, body);
    const { raw, headers } = fake.call(body, new Date());
    const callback: Callback = { bytes: Buffer.from(raw), header: (name) => headers[name] ?? null };
    const received = await receiveCallback(house.deps, relayId, callback);
    return received !== null && !received.ignored.includes("later");
  };
  const bring = async (bytes: Buffer): Promise<boolean> => {
    const received = await receiveMessage(house.deps, { bytes, recipient: path });
    return received !== null && !received.ignored.includes("later");
  };
  const report = (step: Step, block: string) =>
    bring(dsn({ to: path, id: `${step.replaceAll(" ", "-")}-${emailId}`, recipients: [block] }));

  async function conclude(): Promise<boolean> {
    await recordResults(
      house.hot,
      [attemptResult({ id: claim?.id ?? "", leaseToken: claim?.leaseToken ?? "" }, result)],
      { areAlone: true },
    );
    // What the worker that recorded it knows of the way.
    await house.hot`
      update deliveries set relay_id = ${relayId}, provider_id = ${providerId} where id = ${claim?.id ?? ""}`;
    return true;
  }

  const take = (step: Step): Promise<boolean> => {
    const telling = TELLINGS[step];
    if (telling) return call(step, telling);
    switch (step) {
      case "report of failure":
        return report(step, failed(address, "550 5.1.1 User unknown"));
      case "report of a full mailbox":
        return report(step, failed(address, "552 5.2.2 Mailbox full"));
      case "report of success":
        return report(step, `Final-Recipient: rfc822; ${address}\nAction: delivered\nStatus: 2.0.0\n`);
      case "report of delay":
        return report(step, `Final-Recipient: rfc822; ${address}\nAction: delayed\nStatus: 4.4.7\n`);
      case "complaint by mail": {
        const fields = `Feedback-Type: abuse\nUser-Agent: A/1.0\nVersion: 1\nOriginal-Mail-From: <${path}>\n`;
        return bring(arf(fields, `Return-Path: <${path}>\nMessage-ID: <x@y.example>\n`));
      }
      default:
        return conclude();
    }
  };

  const waiting: Step[] = [];
  for (const step of steps) if (!(await take(step))) waiting.push(step);
  // Whoever was told to come again does, and is heard then.
  for (const step of waiting) expect({ step, isHeard: await take(step) }).toEqual({ step, isHeard: true });

  const { status: email, deliveries, events } = await house.email(emailId);
  const [listed] = await house.hot<{ origin: string }[]>`
    select origin from suppressions where address = ${address}`;
  // Nothing of this story may be claimed by the next one.
  await house.hot`update deliveries set due_at = 'infinity' where status = 'queued'`;
  return {
    state: { status: deliveries[0]?.status, email, suppressed: listed?.origin ?? null },
    types: events.map(({ type }) => type),
  };
}

const TELLS: Record<"complained" | "bounced" | "delivered", readonly Step[]> = {
  complained: ["told complained", "complaint by mail"],
  bounced: ["told bounced", "told of a full mailbox", "report of failure", "report of a full mailbox"],
  delivered: ["told delivered", "report of success"],
};

test("any order of a result, reports by mail and calls of a provider ends in the same state", async () => {
  await fc.assert(
    fc.asyncProperty(story, async ({ result, one, other }) => {
      const [first, second] = [await live(result, one), await live(result, other)];
      expect(first.state).toEqual(second.state);
      const isTold = (kind: keyof typeof TELLS) => TELLS[kind].some((step) => one.includes(step));
      const worst = (["complained", "bounced", "delivered"] as const).find(
        (kind) => isTold(kind) || result === kind,
      );
      expect(first.state.status).toBe(worst ?? result);
      const isDead = one.includes("told bounced") || one.includes("report of failure");
      expect(first.state.suppressed).toBe(isTold("complained") ? "complaint" : isDead ? "bounce" : null);
      for (const { types } of [first, second]) {
        if (worst) expect(types).toContain(`email.${worst}`);
        for (const type of ["email.complained", "email.bounced", "email.delivered"])
          expect(types.filter((each) => each === type).length).toBeLessThanOrEqual(1);
      }
    }),
    { numRuns: 50 },
  );
});
