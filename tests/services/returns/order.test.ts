import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DeliveryStatus } from "#db/schema/deliveries";
import { claimDeliveries, markHandedOver } from "#server/delivery/queue/claims";
import { recordResults } from "#server/delivery/queue/record-results";
import { recoverExpired } from "#server/delivery/queue/recover-expired";
import { newId } from "#server/platform/ids";
import { type Recorded, type ReportedOutcome, recordOutcome } from "#server/services/returns/record";
import { attemptResult } from "../../support/attempt-result";
import { createWorld, type World } from "../../support/world";

let world: World;
beforeAll(async () => {
  world = await createWorld({ transportKind: "relay" });
});
afterAll(() => world.close());

/** How an attempt ends: with a result, or because its worker died. */
const RESULTS = ["sent", "delivered", "bounced", "failed", "unknown", "queued", "worker died"] as const;
type Result = (typeof RESULTS)[number];
type Report = { effect: ReportedOutcome["effect"]; isDead: boolean; name: string };
type Step = Report | "result";

const report: fc.Arbitrary<Report> = fc.record({
  effect: fc.constantFrom("delayed", "delivered", "bounced", "complained"),
  isDead: fc.boolean(),
  name: fc.constantFrom("a", "b", "c"),
});
/** A result, and reports of which some come twice, in two orders. */
const history = fc
  .record({ result: fc.constantFrom(...RESULTS), reports: fc.array(report, { maxLength: 4 }) })
  .chain(({ result, reports }) => {
    // The name identifies a report: the same name is the same report.
    const each = [...new Map(reports.map((one) => [one.name, one])).values()];
    const steps: Step[] = ["result", ...each, ...each.slice(0, 1)];
    const shuffled = fc.shuffledSubarray(steps, { minLength: steps.length, maxLength: steps.length });
    return fc.record({ result: fc.constant(result), one: shuffled, other: shuffled });
  });

type End = { status: DeliveryStatus; email: string; suppressed: string | null; types: Set<string> };

/** Runs a history; returns the final state of the delivery, its email and the suppression list. */
async function run(result: Result, steps: readonly Step[]): Promise<End> {
  const address = `${newId()}@example.net`;
  const { id: emailId } = await world.send({ to: [address] });
  const [claim] = await claimDeliveries(world.hot, { limit: 10, leaseToken: newId() });
  if (!claim) throw new Error("no delivery was claimed");
  expect(claim.address).toBe(address);
  await markHandedOver(world.hot, [claim]);
  const waiting: Report[] = [];
  const record = (each: Report): Promise<Recorded> =>
    recordOutcome(world.deps, {
      delivery: claim,
      report: `${emailId} ${each.name}`,
      effect: each.effect,
      reply: { code: 550, enhanced: "5.1.1", text: "no such user" },
      host: "mx.example.net",
      reason: "A report was received.",
      suppresses:
        each.effect === "complained"
          ? "complaint"
          : each.effect === "bounced" && each.isDead
            ? "bounce"
            : null,
    });
  const recordResult = async () => {
    if (result === "worker died") {
      await world.hot`update deliveries set leased_until = now() - interval '1 s' where id = ${claim.id} and lease_token is not null`;
      await recoverExpired(world.hot, newId, 10);
      return;
    }
    await recordResults(world.hot, [{ ...attemptResult(claim, result), isAlone: true }]);
  };
  for (const step of steps) {
    if (step === "result") await recordResult();
    else if ((await record(step)) === "later") waiting.push(step);
  }
  // A report that has to wait is sent again.
  for (const each of waiting) expect(await record(each)).not.toBe("later");

  const { status, deliveries, events } = await world.email(emailId);
  const [row] = await world.hot<
    { origin: string }[]
  >`select origin from suppressions where address = ${address}`;
  // The next history must not claim this delivery.
  await world.hot`update deliveries set due_at = 'infinity' where status = 'queued'`;
  return {
    status: deliveries[0]?.status ?? "failed",
    email: status,
    suppressed: row?.origin ?? null,
    types: new Set(events.map(({ type }) => type)),
  };
}

test("any order of a result and of reports, with repetitions, has the same final state", async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ result, one, other }) => {
      const [first, second] = [await run(result, one), await run(result, other)];
      const { types: _, ...state } = first;
      const { types: __, ...stateOfOther } = second;
      expect(state).toEqual(stateOfOther);

      const effects = new Set(one.flatMap((step) => (step === "result" ? [] : step.effect)));
      const worst = (["complained", "bounced", "delivered"] as const).find(
        (effect) => effects.has(effect) || result === effect,
      );
      const own = result === "worker died" ? "queued" : result;
      expect(state.status).toBe(worst ?? own);
      expect(state.email).toBe(state.status === "queued" ? "deferred" : state.status);
      const isDead = one.some((step) => step !== "result" && step.effect === "bounced" && step.isDead);
      expect(state.suppressed).toBe(effects.has("complained") ? "complaint" : isDead ? "bounce" : null);
      // The event that determined the status is in both timelines.
      if (worst) for (const { types } of [first, second]) expect([...types]).toContain(`email.${worst}`);
    }),
    { numRuns: 15, seed: 1 },
  );
});

test("an email that bounced during its attempt is not retried, whatever the result of the attempt", async () => {
  const end = await run("queued", [{ effect: "bounced", isDead: false, name: "a" }, "result"]);
  expect(end).toMatchObject({ status: "bounced", email: "bounced" });
  expect([...end.types]).toEqual(expect.arrayContaining(["email.sent", "email.bounced"]));
  expect(await claimDeliveries(world.hot, { limit: 10, leaseToken: newId() })).toEqual([]);
});
