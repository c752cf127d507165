import { setTimeout as wait } from "node:timers/promises";
import { newId } from "#server/platform/ids";
import { requeueRelayed } from "#server/services/relays/health";
import type { Place } from "./bench-database";
import type { DeliverCommands } from "./deliver-child";
import { queueEmails } from "./queue";
import { comparedLine, type Line, perSecond } from "./report";
import { startChild } from "./start-child";

const emails = 20_000;
const runMaxMs = 120_000;
const perSecondMin = 1_000;

/**
 * Email without a transport: how fast it returns to the queue, and becomes due again when a relay appears.
 */
export async function measureParking(place: Place): Promise<Line[]> {
  const database = await place.openDatabase();
  const { hot } = database;
  const engine = await startChild<DeliverCommands>("deliver-child.ts");
  const countParked = async () => {
    const [row] = await hot<{ n: number }[]>`
      select count(*)::int as n from deliveries
      where status = 'queued' and due_at = 'infinity' and wait_rule = 'no_transport'`;
    return row?.n ?? 0;
  };
  try {
    await queueEmails(hot, database.teamId, emails);
    const startedMs = performance.now();
    await engine.ask("startEngine", { databaseUrl: database.url, smtpUrl: null });
    while ((await countParked()) < emails) {
      if (performance.now() - startedMs > runMaxMs) throw new Error("Not every email was parked in time.");
      await wait(50);
    }
    const parkedPerSecond = emails / ((performance.now() - startedMs) / 1_000);
    await engine.ask("stopEngine");

    await hot`insert into relays (id, name, url, host) values (${newId()}, 'bench', 'sealed', 'relay.example:587')`;
    const addedMs = performance.now();
    for (let due = 0; due < emails; ) due += await requeueRelayed(hot, emails);
    const duePerSecond = emails / ((performance.now() - addedMs) / 1_000);
    const line = (what: string, rate: number) =>
      comparedLine({
        what,
        measured: perSecond(rate, "emails"),
        floor: `required: ${perSecond(perSecondMin, "emails")}`,
        ratio: rate / perSecondMin,
        budget: { atLeast: 1 },
      });
    return [
      line("email without a transport returns to the queue, one process", parkedPerSecond),
      line("the same email becomes due when a relay is added", duePerSecond),
    ];
  } finally {
    await engine.end();
    await database.drop();
  }
}
