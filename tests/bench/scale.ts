import type { HotSql } from "#db/client";
import { openDatabase } from "#db/client";
import { claimDeliveries } from "#server/delivery/queue/claims";
import type { Ctx } from "#server/deps";
import { newId } from "#server/platform/ids";
import { silentLog } from "#server/platform/log";
import { listEmails } from "#server/services/emails/read/list";
import { buildDeps } from "#server/startup/deps";
import { type BenchDatabase, type Place, settingsFor } from "./bench-database";
import { medianOf, medianRatio, runAlternately } from "./measure";
import { queueEmails } from "./queue";
import { comparedLine, type Line, milliseconds } from "./report";

const finishedRows = { few: 10_000, many: 200_000 };
const claimsPerRun = 20;
const claimSize = 50;
const listsPerRun = 50;

/** The cost of finished emails for those that are queued, and for lists: it should be zero. */
export async function measureScale(place: Place): Promise<Line[]> {
  const few = await openFilled(place, finishedRows.few);
  const many = await openFilled(place, finishedRows.many);
  try {
    const claims = await runAlternately({ many: () => many.claim(), few: () => few.claim() }, 5);
    const lists = await runAlternately({ many: () => many.list(), few: () => few.list() }, 5);
    const label = `${finishedRows.many.toLocaleString("en")} finished rows`;
    const beside = `${finishedRows.few.toLocaleString("en")}`;
    return [
      comparedLine({
        what: `a claim of ${claimSize} beside ${label}`,
        measured: milliseconds(medianOf(claims.many)),
        floor: `beside ${beside}: ${milliseconds(medianOf(claims.few))}`,
        ratio: medianRatio(claims.many, claims.few),
        budget: { atMost: 1.3 },
      }),
      comparedLine({
        what: `the first page of the list beside ${label}`,
        measured: milliseconds(medianOf(lists.many)),
        floor: `beside ${beside}: ${milliseconds(medianOf(lists.few))}`,
        ratio: medianRatio(lists.many, lists.few),
        budget: { atMost: 1.3 },
      }),
    ];
  } finally {
    await few.close();
    await many.close();
  }
}

async function openFilled(place: Place, rows: number) {
  const database = await place.openDatabase();
  const { hot, close } = openDatabase(database.url, { connectionsMax: 2 });
  const built = buildDeps(settingsFor(database.url), { log: silentLog, connectionsMax: 2 });
  const ctx: Ctx = {
    ...built.deps,
    teamId: database.teamId,
    actor: { kind: "operator" },
    requestId: "bench",
  };
  await fillFinished(hot, database, rows);
  return {
    claim: () => timeClaims(hot, database.teamId),
    list: () => timeLists(ctx),
    close: async () => {
      await close();
      await built.close();
      await database.drop();
    },
  };
}

/** Emails that were sent, over a day, as the engine leaves them. */
async function fillFinished(hot: HotSql, { teamId }: BenchDatabase, rows: number): Promise<void> {
  await hot`
    with mail as (
      insert into emails (id, team_id, sender, sender_address, sender_domain, "to", subject, message_id, status, created_at)
      select ('0190' || lpad(to_hex(n), 8, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid, ${teamId},
        'ann@bench.example', 'ann@bench.example', 'bench.example',
        jsonb_build_array('reader-' || n || '@customers.example'), 'Your order ' || n, n || '@bench.example', 'sent',
        now() - interval '1 day'
      from generate_series(1, ${rows}::int) as n
      returning id, team_id, "to"
    )
    insert into deliveries (id, team_id, email_id, position, kind, address, domain, status, attempts, due_at)
    select id, team_id, id, 0, 'to', "to" ->> 0, 'customers.example', 'sent', 1, now() - interval '1 day' from mail`;
  await hot.unsafe("vacuum analyze emails, deliveries");
}

/** Milliseconds of a claim, the median of several. Claimed rows are finished outside the measured time. */
async function timeClaims(hot: HotSql, teamId: string): Promise<number> {
  await queueEmails(hot, teamId, claimsPerRun * claimSize);
  const tookMs: number[] = [];
  for (let n = 0; n < claimsPerRun; n++) {
    const startedMs = performance.now();
    const claims = await claimDeliveries(hot, { limit: claimSize, leaseToken: newId() });
    tookMs.push(performance.now() - startedMs);
    if (claims.length !== claimSize) throw new Error("A claim returned fewer rows than are due.");
  }
  await hot`update deliveries set status = 'sent', stage = 'idle', lease_token = null, leased_until = null
            where status = 'sending'`;
  return medianOf(tookMs);
}

async function timeLists(ctx: Ctx): Promise<number> {
  const tookMs: number[] = [];
  for (let n = 0; n < listsPerRun; n++) {
    const startedMs = performance.now();
    await listEmails(ctx, { limit: 20 });
    tookMs.push(performance.now() - startedMs);
  }
  return medianOf(tookMs);
}
