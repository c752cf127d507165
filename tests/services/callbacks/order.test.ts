import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { claimDeliveries, markHandedOver } from "#server/delivery/queue/claims";
import { recordResults } from "#server/delivery/queue/record-results";
import { recoverExpired } from "#server/delivery/queue/recover-expired";
import type { Callback } from "#server/mail/callbacks/callback";
import { newId } from "#server/platform/ids";
import { findCallbackRelay, receiveCallback } from "#server/services/callbacks/receive";
import { setCallback } from "#server/services/callbacks/secrets";
import { findRelay } from "#server/services/relays/read";
import { receiveMessage } from "#server/services/returns/receive";
import { arf, dsn, failed } from "../../mail/bounce/messages";
import { attemptResult } from "../../support/attempt-result";
import { forAllTests } from "../../support/fixtures";
import { relayTo } from "../../support/relays";
import { type FakeProvider, fakeSendgrid, type ProviderReport } from "../../support/servers/providers";
import { createWorld } from "../../support/world";

/*
 * The whole history of one email: the result of its attempt, bounces and complaints by email, and callbacks
 * of the relay's provider, some of them twice.
 */

const names = { mailHost: null, returnPathDomain: "bounces.example.com", webHost: null };
const world = forAllTests(() => createWorld({ transportKind: "relay", names }));
let fake: FakeProvider;
let relayId: string;
beforeAll(async () => {
  fake = fakeSendgrid();
  const relay = await relayTo(world.deps, { port: 9 }, { provider: fake.provider });
  await setCallback(world.deps, await findRelay(world.deps, relay.id), fake.given);
  relayId = relay.id;
});

const STEPS = [
  "result",
  "callback: delivered",
  "callback: bounced",
  "callback: mailbox full",
  "callback: delayed",
  "callback: failed",
  "callback: complained",
  "DSN: failed",
  "DSN: mailbox full",
  "DSN: delivered",
  "DSN: delayed",
  "complaint by email",
] as const;
type Step = (typeof STEPS)[number];

const RESULTS = ["sent", "delivered", "unknown", "queued", "bounced", "failed", "worker died"] as const;
type Result = (typeof RESULTS)[number];

/** A result and reports, in two orders; at least one report comes twice. */
const history = fc
  .record({
    result: fc.constantFrom(...RESULTS),
    others: fc.uniqueArray(fc.constantFrom(...STEPS.slice(1)), { minLength: 1, maxLength: 4 }),
  })
  .chain(({ result, others }) => {
    const steps: Step[] = ["result", ...others, ...others.slice(0, 1)];
    const shuffled = fc.shuffledSubarray(steps, { minLength: steps.length, maxLength: steps.length });
    return fc.record({ result: fc.constant(result), one: shuffled, other: shuffled });
  });

const CALLBACKS: Partial<Record<Step, [kind: ProviderReport["kind"], said?: string]>> = {
  "callback: delivered": ["delivered"],
  "callback: bounced": ["bounced", "550 5.1.1 User unknown"],
  "callback: mailbox full": ["bounced", "552 5.2.2 Mailbox full"],
  "callback: delayed": ["delayed", "451 4.3.0 Later"],
  "callback: failed": ["bounced", "Maximum credits exceeded"],
  "callback: complained": ["complained"],
};

/** Runs a history; returns the final state of the delivery, its email and the suppression list. */
async function run(result: Result, steps: readonly Step[]) {
  const address = `${newId()}@example.net`;
  const providerId = fake.newProviderId("");
  const { id: emailId } = await world.send({ to: [address] });
  const [claim] = await claimDeliveries(world.hot, { limit: 10, leaseToken: newId() });
  if (!claim) throw new Error("no delivery was claimed");
  await markHandedOver(world.hot, [claim]);
  const path = `${world.deps.recipientTokens.returnPath(claim.id)}@bounces.example.com`;

  const bodies = new Map<Step, unknown>();
  const call = async (
    step: Step,
    [kind, said]: [ProviderReport["kind"], said?: string],
  ): Promise<boolean> => {
    const reported = fake.report({ kind, address, providerId, at: new Date(), ...(said && { said }) });
    const dropped = (reported as object[]).map((event) => ({ ...event, event: "dropped" }));
    const body = bodies.get(step) ?? (step === "callback: failed" ? dropped : reported);
    bodies.set(step, body);
    const { raw, headers } = fake.call(body, new Date());
    const callback: Callback = { bytes: Buffer.from(raw), header: (name) => headers[name] ?? null };
    const relay = await findCallbackRelay(world.deps, relayId, callback.header);
    const received = relay && (await receiveCallback(world.deps, relay, callback));
    return received !== null && !received.ignored.includes("later");
  };
  const receive = async (bytes: Buffer): Promise<boolean> => {
    const received = await receiveMessage(world.deps, { bytes, recipients: [path] });
    return received !== null && !received.ignored.includes("later");
  };
  const report = (step: Step, block: string) =>
    receive(dsn({ to: path, id: `${step.replace(/\W+/g, "-")}-${emailId}`, recipients: [block] }));

  const recordResult = async (): Promise<boolean> => {
    if (result === "worker died") {
      await world.hot`
        update queue set due_at = now() - interval '1 s' where id = ${claim.id} and lease_token is not null`;
      await recoverExpired(world.hot, newId, 10);
    } else await recordResults(world.hot, [{ ...attemptResult(claim, result), isAlone: true }]);
    // The worker also records which relay was used.
    await world.hot`
      update deliveries set relay_id = ${relayId}, provider_id = ${providerId} where id = ${claim.id}`;
    return true;
  };

  const runStep = (step: Step): Promise<boolean> => {
    const callback = CALLBACKS[step];
    if (callback) return call(step, callback);
    switch (step) {
      case "DSN: failed":
        return report(step, failed(address, "550 5.1.1 User unknown"));
      case "DSN: mailbox full":
        return report(step, failed(address, "552 5.2.2 Mailbox full"));
      case "DSN: delivered":
        return report(step, `Final-Recipient: rfc822; ${address}\nAction: delivered\nStatus: 2.0.0\n`);
      case "DSN: delayed":
        return report(step, `Final-Recipient: rfc822; ${address}\nAction: delayed\nStatus: 4.4.7\n`);
      case "complaint by email": {
        const fields = `Feedback-Type: abuse\nUser-Agent: A/1.0\nVersion: 1\nOriginal-Mail-From: <${path}>\n`;
        return receive(arf(fields, `Return-Path: <${path}>\nMessage-ID: <x@y.example>\n`));
      }
      default:
        return recordResult();
    }
  };

  const waiting: Step[] = [];
  for (const step of steps) if (!(await runStep(step))) waiting.push(step);
  // A report that has to wait is sent again, and is accepted then.
  for (const step of waiting)
    expect({ step, isAccepted: await runStep(step) }).toEqual({ step, isAccepted: true });

  const { status: email, deliveries, events } = await world.email(emailId);
  const [listed] = await world.hot<{ origin: string }[]>`
    select origin from suppressions where address = ${address}`;
  // The next history must not claim this delivery.
  await world.hot`update deliveries set due_at = 'infinity' where status = 'queued'`;
  return {
    state: { status: deliveries[0]?.status, email, suppressed: listed?.origin ?? null },
    types: events.map(({ type }) => type),
  };
}

const REPORTS: Record<"complained" | "bounced" | "delivered" | "failed", readonly Step[]> = {
  complained: ["callback: complained", "complaint by email"],
  bounced: ["callback: bounced", "callback: mailbox full", "DSN: failed", "DSN: mailbox full"],
  delivered: ["callback: delivered", "DSN: delivered"],
  failed: ["callback: failed"],
};

test("any order of a result, reports by email and callbacks of a provider has the same final state", async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ result, one, other }) => {
      const [first, second] = [await run(result, one), await run(result, other)];
      expect(first.state).toEqual(second.state);
      const isReported = (kind: keyof typeof REPORTS) => REPORTS[kind].some((step) => one.includes(step));
      const worst = (["complained", "bounced", "delivered", "failed"] as const).find(
        (kind) => isReported(kind) || result === kind,
      );
      expect(first.state.status).toBe(worst ?? (result === "worker died" ? "queued" : result));
      const isDead = one.includes("callback: bounced") || one.includes("DSN: failed");
      expect(first.state.suppressed).toBe(isReported("complained") ? "complaint" : isDead ? "bounce" : null);
      for (const { types } of [first, second]) {
        if (worst) expect(types).toContain(`email.${worst}`);
        for (const type of ["email.complained", "email.bounced", "email.delivered"])
          expect(types.filter((each) => each === type).length).toBeLessThanOrEqual(1);
      }
    }),
    { numRuns: 20, seed: 1 },
  );
});

test("an email that bounced during its attempt is not retried, whatever the result of the attempt", async () => {
  const { state, types } = await run("queued", ["callback: mailbox full", "DSN: mailbox full", "result"]);
  expect(state).toMatchObject({ status: "bounced", email: "bounced" });
  expect(types).toEqual(expect.arrayContaining(["email.sent", "email.bounced"]));
});
