import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pgbouncerMissing } from "../../support/processes/pgbouncer";
import { createRandom } from "../../support/random";
import { type Act, PASS } from "../../support/servers/smtp-test-server";
import type { FunctionInstance } from "./functions";
import { type Installation, openInstallation } from "./installation";

/*
 * Emails flow while functions are frozen and killed at random moments of overlapping ticks. `VERCEL_ROUNDS`
 * is the number of faults, `VERCEL_SEED` repeats a run.
 */
const rounds = Number(process.env.VERCEL_ROUNDS ?? 2);
const seed = process.env.VERCEL_SEED ?? "functions";
const emailsPerRound = 8;
const settleRoundsMax = 40;
const suite = `functions under faults${pgbouncerMissing ? ` (skipped: ${pgbouncerMissing})` : ""}`;

function countEach(keys: string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

describe.skipIf(pgbouncerMissing)(suite, () => {
  let place: Installation;
  beforeAll(async () => {
    place = await openInstallation({
      message: async (): Promise<Act> => {
        // Long enough that a fault can hit a dialogue.
        await wait(150);
        return PASS;
      },
    });
  });
  afterAll(() => place?.close());

  /** Ticks until every email has its final status. */
  async function settle(instances: FunctionInstance[]): Promise<void> {
    for (let n = 0; n < settleRoundsMax; n++) {
      await Promise.all(instances.map((instance) => instance.tick()));
      const waiting = (await place.statuses()).filter((status) => /queued|scheduled|sending/.test(status));
      if (waiting.length === 0) return;
      await place.expireLeases();
      await place.makeDue();
    }
  }

  test(
    `${rounds} freezes and kills in mid-tick lose nothing, and duplicate nothing without an unknown outcome`,
    async () => {
      const random = createRandom(seed);
      const instances = [await place.start(), await place.start()];
      const accepted = new Map<string, { subject: string; to: string[] }>();
      const counts = { kills: 0, freezes: 0 };
      for (let round = 0; round < rounds; round++) {
        const at = round % 2;
        const [victim, other] = [instances[at], instances[1 - at]] as [FunctionInstance, FunctionInstance];
        const posts = Array.from({ length: emailsPerRound }, async (_, n) => {
          const email = { subject: `Email ${round}-${n}`, to: [`a${n}@example.net`, `b${n}@example.com`] };
          const id = await place.post(n % 2 === 0 ? victim : other, email.subject, email.to);
          if (id !== null) accepted.set(id, email);
        });
        const ticks = [victim.tick(), other.tick(), victim.tick()];
        await wait(random.upTo(800));
        if ((round + Math.floor(round / 2)) % 2 === 0) {
          counts.freezes++;
          victim.process.signal("SIGSTOP");
          await other.tick();
          await place.expireLeases();
          await other.tick();
          victim.process.signal("SIGCONT");
        } else {
          counts.kills++;
          await victim.process.kill();
          await other.tick();
          instances[at] = await place.start();
        }
        await Promise.all([...posts, ...ticks]);
      }
      await settle(instances);

      const copies = countEach(place.copies());
      const unknowns = countEach(await place.unknowns());
      const lost: string[] = [];
      const doubled: string[] = [];
      let extra = 0;
      for (const [id, { subject, to }] of accepted)
        for (const address of to) {
          const count = copies.get(`${subject} ${address}`) ?? 0;
          if (count === 0) lost.push(`${subject} ${address}`);
          if (count > 1 + (unknowns.get(`${id} ${address}`) ?? 0)) doubled.push(`${subject} ${address}`);
          extra += Math.max(0, count - 1);
        }
      process.stdout.write(
        `seed ${seed}: ${counts.freezes} freezes, ${counts.kills} kills, ${accepted.size} emails accepted, ${lost.length} recipients lost, ${doubled.length} duplicated, ${extra} copies with their own unknown outcome\n`,
      );
      expect({ lost, doubled }).toEqual({ lost: [], doubled: [] });
      expect(accepted.size).toBeGreaterThan(rounds * 2);
      expect(new Set(await place.statuses())).toEqual(new Set(["sent"]));
    },
    120_000 + rounds * 30_000,
  );
});
