import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { recoverExpired } from "#db/expiry";
import { claimDeliveries, markHandedOver } from "#db/queue";
import { recordResults } from "#db/results";
import type { DeliveryStatus } from "#db/schema/deliveries";
import { newId } from "#server/ids";
import { type Recorded, type Return, recordReturn } from "#server/services/returns/record";
import { attemptResult } from "../../support/attempt-result";
import { type House, openHouse } from "../../support/house";

let house: House;
beforeAll(async () => {
  house = await openHouse({ transportKind: "relay" });
});
afterAll(() => house.close());

/** How an attempt ends: by a result, or with its worker. */
const RESULTS = ["sent", "delivered", "bounced", "failed", "unknown", "queued", "worker gone"] as const;
type Result = (typeof RESULTS)[number];
type Report = { effect: Return["effect"]; isDead: boolean; name: string };
type Step = Report | "result";

const report: fc.Arbitrary<Report> = fc.record({
  effect: fc.constantFrom("delayed", "delivered", "bounced", "complained"),
  isDead: fc.boolean(),
  name: fc.constantFrom("a", "b", "c"),
});
/** A result, and reports of which some come twice, in one order and in another. */
const history = fc
  .record({ result: fc.constantFrom(...RESULTS), reports: fc.array(report, { maxLength: 4 }) })
  .chain(({ result, reports }) => {
    // Under one name it is one report, and the same whenever it comes.
    const each = [...new Map(reports.map((one) => [one.name, one])).values()];
    const steps: Step[] = ["result", ...each, ...each.slice(0, 1)];
    const shuffled = fc.shuffledSubarray(steps, { minLength: steps.length, maxLength: steps.length });
    return fc.record({ result: fc.constant(result), one: shuffled, other: shuffled });
  });

type End = { status: DeliveryStatus; email: string; suppressed: string | null; types: Set<string> };

/** Lets a delivery go through it, and tells how it stands in the end. */
async function live(result: Result, steps: readonly Step[]): Promise<End> {
  const address = `${newId()}@example.net`;
  const { id: emailId } = await house.send({ to: [address] });
  const [claim] = await claimDeliveries(house.hot, { limit: 10, leaseToken: newId() });
  if (!claim) throw new Error("nothing was claimed");
  expect(claim.address).toBe(address);
  await markHandedOver(house.hot, [claim]);
  const waiting: Report[] = [];
  const tell = (each: Report): Promise<Recorded> =>
    recordReturn(house.deps, {
      deliveryId: claim.id,
      report: `${emailId} ${each.name}`,
      effect: each.effect,
      reply: { code: 550, enhanced: "5.1.1", text: "no such user" },
      host: "mx.example.net",
      reason: "It came back.",
      suppresses:
        each.effect === "complained"
          ? "complaint"
          : each.effect === "bounced" && each.isDead
            ? "bounce"
            : null,
    });
  const conclude = async () => {
    if (result === "worker gone") {
      await house.hot`update deliveries set leased_until = now() - interval '1 s' where id = ${claim.id} and lease_token is not null`;
      await recoverExpired(house.hot, newId, 10);
      return;
    }
    await recordResults(house.hot, [attemptResult(claim, result)], { areAlone: true });
  };
  for (const step of steps) {
    if (step === "result") await conclude();
    else if ((await tell(step)) === "later") waiting.push(step);
  }
  // Whoever was told to come again does.
  for (const each of waiting) expect(await tell(each)).not.toBe("later");

  const { status, deliveries, events } = await house.email(emailId);
  const [row] = await house.hot<
    { origin: string }[]
  >`select origin from suppressions where address = ${address}`;
  // Nothing of this history may be claimed by the next one.
  await house.hot`update deliveries set due_at = 'infinity' where status = 'queued'`;
  return {
    status: deliveries[0]?.status ?? "failed",
    email: status,
    suppressed: row?.origin ?? null,
    types: new Set(events.map(({ type }) => type)),
  };
}

test("any order of a result and of reports, and any of them twice, ends in the same state", async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ result, one, other }) => {
      const [first, second] = [await live(result, one), await live(result, other)];
      const { types: _, ...state } = first;
      const { types: __, ...stateOfOther } = second;
      expect(state).toEqual(stateOfOther);

      const effects = new Set(one.flatMap((step) => (step === "result" ? [] : step.effect)));
      const worst = (["complained", "bounced", "delivered"] as const).find(
        (effect) => effects.has(effect) || result === effect,
      );
      const own = result === "worker gone" ? "queued" : result;
      expect(state.status).toBe(worst ?? own);
      expect(state.email).toBe(state.status === "queued" ? "deferred" : state.status);
      const isDead = one.some((step) => step !== "result" && step.effect === "bounced" && step.isDead);
      expect(state.suppressed).toBe(effects.has("complained") ? "complaint" : isDead ? "bounce" : null);
      // What decided stands in both timelines.
      if (worst) for (const { types } of [first, second]) expect([...types]).toContain(`email.${worst}`);
    }),
    { numRuns: 60 },
  );
});

test("a mail that came back while its attempt was under way is not tried again, whatever the attempt comes to", async () => {
  const end = await live("queued", [{ effect: "bounced", isDead: false, name: "a" }, "result"]);
  expect(end).toMatchObject({ status: "bounced", email: "bounced" });
  expect([...end.types]).toEqual(expect.arrayContaining(["email.sent", "email.bounced"]));
  expect(await claimDeliveries(house.hot, { limit: 10, leaseToken: newId() })).toEqual([]);
});
