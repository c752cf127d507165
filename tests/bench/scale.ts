import { claimDeliveries } from "#server/delivery/queue/claims";
import { newId } from "#server/platform/ids";
import type { BenchDatabase, Place } from "./bench-database";
import { compareSides, medianMs } from "./measure";
import { queueEmails } from "./queue";
import { type Line, milliseconds } from "./report";

const finishedRows = { few: 10_000, many: 200_000 };
const claimsPerRun = 20;
const claimSize = 50;

/** The cost of finished emails for those that are queued: it should be zero. */
export async function measureScale(place: Place): Promise<Line[]> {
  const few = await openFilled(place, finishedRows.few);
  const many = await openFilled(place, finishedRows.many);
  try {
    return [
      await compareSides({
        what: `a claim of ${claimSize} beside ${finishedRows.many.toLocaleString("en")} finished rows`,
        measured: () => timeClaims(many),
        reference: () => timeClaims(few),
        beside: `beside ${finishedRows.few.toLocaleString("en")}`,
        format: milliseconds,
        budget: { atMost: 1.3 },
        rounds: 5,
      }),
    ];
  } finally {
    await few.drop();
    await many.drop();
  }
}

async function openFilled(place: Place, rows: number): Promise<BenchDatabase> {
  const database = await place.openDatabase();
  await fillFinished(database, rows);
  return database;
}

/** Emails that were sent, over a day, as the engine leaves them. */
async function fillFinished({ hot, teamId }: BenchDatabase, rows: number): Promise<void> {
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
async function timeClaims({ hot, teamId }: BenchDatabase): Promise<number> {
  await queueEmails(hot, teamId, claimsPerRun * claimSize);
  const tookMs = await medianMs(async () => {
    const claims = await claimDeliveries(hot, { limit: claimSize, leaseToken: newId() });
    if (claims.length !== claimSize) throw new Error("A claim returned fewer rows than are due.");
  }, claimsPerRun);
  await hot`update deliveries set status = 'sent' where id in (select id from queue)`;
  await hot`delete from queue`;
  return tookMs;
}
