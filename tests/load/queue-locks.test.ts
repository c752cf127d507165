import { afterEach, beforeEach, expect, test } from "vitest";
import { type Database, openDatabase } from "#db/client";
import { EMAIL_STATUSES, type EmailStatus } from "#db/schema/emails";
import {
  type Claim,
  claimDeliveries,
  markHandedOver,
  releaseClaims,
  renewLeases,
} from "#server/delivery/queue/claims";
import { recordResults } from "#server/delivery/queue/record-results";
import { recoverExpired } from "#server/delivery/queue/recover-expired";
import { handOverWithinCaps } from "#server/delivery/throttle/daily-caps";
import { newId } from "#server/platform/ids";
import { attemptResult } from "../support/attempt-result";
import { forEachTest } from "../support/fixtures";
import { createRandom, type Random } from "../support/random";
import { createWorld } from "../support/world";

const world = forEachTest(() => createWorld());
let workers: Database[];
beforeEach(async () => {
  workers = [1, 2, 3].map(() => openDatabase(world.databaseUrl, { connectionsMax: 8 }));
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.close()));
});

const sendMany = async (mails: number, recipientsEach: number) => {
  const name = recipientsEach === 1 ? "alone" : "r";
  for (let n = 0; n < mails; n++)
    await world.send({
      to: Array.from({ length: recipientsEach }, (_, k) => `${name}${n}-${k}@example.net`),
    });
};
const isAlone = ({ address }: Claim) => address.startsWith("alone");

/** A queued delivery is due again at once. */
const resultOf = (claim: Claim, status: Parameters<typeof attemptResult>[1]) => ({
  ...attemptResult(claim, status),
  ...(status === "queued" && { retryAfterMs: 0 }),
});

/** The expected status of each email, derived from its recipients. */
async function wrongSummaries(): Promise<unknown[]> {
  const rows = await world.hot<{ id: string; status: EmailStatus; recipients: EmailStatus[] }[]>`
    select e.id, e.status,
      array_agg(case when d.status = 'queued' and d.attempts > 0 then 'deferred' else d.status end) as recipients
    from emails e join deliveries d on d.email_id = e.id group by e.team_id, e.id`;
  return rows.filter(({ status, recipients }) => {
    const worst = EMAIL_STATUSES.find((candidate) => recipients.includes(candidate));
    return status !== worst;
  });
}

test("writers of the same recipients in opposite orders never deadlock", async () => {
  await sendMany(40, 5);
  const [first, second, third] = workers.map(({ hot }) => hot);
  if (!first || !second || !third) throw new Error("three workers");
  const faults: unknown[] = [];
  const noted = (work: Promise<unknown>) => work.catch((error) => faults.push(error));
  await world.hot`update domains set daily_cap = 1000000 where name = 'example.org'`;
  const withinCaps = (hot: Database["hot"], claims: Claim[]) =>
    handOverWithinCaps(
      hot,
      claims.map((claim) => ({ ...claim, senderDomain: "example.org", offersUnsubscribe: false })),
    );

  for (let round = 0; round < 10 && faults.length === 0; round++) {
    const leaseToken = newId();
    const claims = await claimDeliveries(first, { limit: 200, leaseToken });
    expect(claims).toHaveLength(200);
    const reversed = claims.toReversed();
    const evenly = claims.filter((_, index) => index % 2 === 0);
    await Promise.all([
      noted(markHandedOver(first, claims)),
      noted(renewLeases(second, [leaseToken])),
      noted(markHandedOver(third, reversed)),
      noted(withinCaps(first, reversed)),
      noted(withinCaps(second, claims)),
    ]);
    await Promise.all([
      noted(
        recordResults(
          first,
          reversed.map((claim) => resultOf(claim, "queued")),
        ),
      ),
      noted(renewLeases(second, [leaseToken])),
      noted(
        recordResults(
          third,
          evenly.map((claim) => resultOf(claim, "queued")),
        ),
      ),
      noted(markHandedOver(second, reversed)),
      noted(withinCaps(first, claims)),
      noted(releaseClaims(third, withRule(evenly, "released"))),
      noted(recoverExpired(second, newId, 500)),
    ]);
  }
  expect(faults).toEqual([]);
});

const withRule = (claims: readonly Claim[], rule: "released" | "no_transport") =>
  claims.map((claim) => ({ ...claim, rule }));

test("after any mix of claims, results, releases and expired leases, each email has the status of its worst recipient", async () => {
  await sendMany(60, 4);
  await sendMany(60, 1);
  const faults: unknown[] = [];
  let isWritten = false;
  const runWriter = async (hot: Database["hot"], random: Random) => {
    for (let round = 0; round < 40; round++) {
      const leaseToken = newId();
      const claims = random.shuffled(await claimDeliveries(hot, { limit: random.upTo(40), leaseToken }));
      const released = claims.filter(() => random.chance(0.15));
      const started = claims.filter((claim) => !released.includes(claim));
      const lost = started.filter(() => random.chance(0.1));
      await Promise.all([
        releaseClaims(hot, withRule(released, random.chance(0.3) ? "no_transport" : "released")),
        renewLeases(hot, [leaseToken]),
        markHandedOver(hot, started),
      ]);
      const ended = started.filter((claim) => !lost.includes(claim));
      const settle = (claim: Claim) =>
        random.chance(0.6)
          ? resultOf(claim, "queued")
          : resultOf(claim, random.pick(["sent", "bounced", "failed", "delivered", "unknown"]));
      const together = ended.filter((claim) => !isAlone(claim)).map(settle);
      const half = Math.floor(together.length / 2);
      await Promise.all([
        renewLeases(hot, [leaseToken]),
        recordResults(hot, together.slice(0, half)),
        recordResults(hot, together.slice(half)),
        recordResults(
          hot,
          ended.filter(isAlone).map((claim) => ({ ...settle(claim), isAlone: true })),
        ),
      ]);
    }
  };
  const expireLeases = async (hot: Database["hot"], random: Random) => {
    while (!isWritten) {
      await hot`update queue set due_at = now() - interval '1 s' where id in
        (select id from queue where lease_token is not null limit ${random.upTo(6)} for update skip locked)`;
      await recoverExpired(hot, newId, 100);
    }
  };
  const noted = (work: Promise<unknown>) => work.catch((error) => faults.push(error));
  const expiring = noted(expireLeases(world.hot, createRandom("lapse")));
  await Promise.all(workers.map(({ hot }, index) => noted(runWriter(hot, createRandom(`drive ${index}`)))));
  isWritten = true;
  await expiring;
  expect(faults).toEqual([]);
  await world.elapse("2 minutes");
  await recoverExpired(world.hot, newId, 1_000);
  expect(await world.hot`select 1 from queue where lease_token is not null`).toHaveLength(0);
  expect(await wrongSummaries()).toEqual([]);
});
