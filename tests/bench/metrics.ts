import type { HotSql } from "#db/client";
import type { Ctx } from "#server/deps";
import { getMetrics } from "#server/services/metrics/read";
import { getDeliveryTimes, getQueue, listFailures } from "#server/services/overview/queue";
import { getTraffic, lastDays, listTagTraffic } from "#server/services/overview/traffic";
import { createTeam } from "#server/services/teams";
import { fillTotals } from "../support/database/recipient-totals";
import type { Place } from "./bench-database";
import { fillEmails } from "./fill-emails";
import { compareSides, medianMs } from "./measure";
import { type Line, milliseconds, plainLine } from "./report";

/** A year, so that the month is read among older rows. */
const days = 365;
const emailsPerMonth = 10_000_000;
const tagsPerDay = 200;
/**
 * Emails with deliveries and events, a fraction of them queued. More than the queue, the failures and the
 * delivery times read, each of which reads a bounded number of entries of one index.
 */
const [storedEmails, queuedEmails] = [200_000, 20_000];

/**
 * The overview and the metrics of a team with ten million emails a month, beside a team without email in the
 * same database. Counts are filled for all emails: 4 domains, 4 keys, 5 providers and 200 tags a day, each of
 * which occurs in every hour. The table of tags and what reads emails and events have no budget, because an
 * empty team has nothing that they could read.
 */
export async function measureMetrics(place: Place): Promise<Line[]> {
  const { ctx: large, hot, drop } = await place.openDatabase();
  try {
    const { id: emptyTeamId } = await createTeam(large, { name: "Empty" });
    const empty: Ctx = { ...large, teamId: emptyTeamId };
    await fillCounts(hot, large.teamId);
    await fillStored(hot, large.teamId);
    const what = (name: string) => `${name}, of ten million emails a month`;
    const beside = "of an empty team";
    const lines: Line[] = [];
    for (const [name, ask] of Object.entries(queriesOf(large)))
      lines.push(
        await compareSides({
          what: what(name),
          measured: () => medianMs(() => ask(large)),
          reference: () => medianMs(() => ask(empty)),
          beside,
          format: milliseconds,
          budget: { atMost: 2 },
        }),
      );
    for (const [name, ask] of Object.entries(WITHOUT_BUDGET)) {
      const [took, reference] = [await medianMs(() => ask(large)), await medianMs(() => ask(empty))];
      lines.push(plainLine(what(name), milliseconds(took), `${beside}: ${milliseconds(reference)}`));
    }
    return lines;
  } finally {
    await drop();
  }
}

function queriesOf({ clock }: Ctx): Record<string, (ctx: Ctx) => Promise<unknown>> {
  const monthFor = (ctx: Ctx, timeZone: string) => {
    const { since } = lastDays(ctx, 30);
    const time = { startAt: new Date(`${since}T00:00:00Z`), endAt: clock(), timeZone };
    return getMetrics(ctx, { ...time, granularity: "daily", dimensions: ["period"], filter: {} });
  };
  return {
    "all that the overview opens, for a month": (ctx) =>
      Promise.all([
        getTraffic(ctx, lastDays(ctx, 30), {}),
        getDeliveryTimes(ctx, new Date(0)),
        getQueue(ctx),
        listFailures(ctx, 6),
      ]),
    "the overview's day": (ctx) => getTraffic(ctx, lastDays(ctx, 1), {}),
    "the overview's month": (ctx) => getTraffic(ctx, lastDays(ctx, 30), {}),
    "the overview's month of a tag": (ctx) => getTraffic(ctx, lastDays(ctx, 30), { tag: "kind:7" }),
    "the overview's 90 days": (ctx) => getTraffic(ctx, lastDays(ctx, 90), {}),
    "`GET /api/emails/metrics` by day in UTC": (ctx) => monthFor(ctx, "UTC"),
    "`GET /api/emails/metrics` by day in Berlin": (ctx) => monthFor(ctx, "Europe/Berlin"),
  };
}

/**
 * What the overview reads beside the counts. The table of tags is read on demand and reads a row for each tag
 * and day. The others read a bounded number of emails and events.
 */
const WITHOUT_BUDGET: Record<string, (ctx: Ctx) => Promise<unknown>> = {
  "the overview's tags of a month": (ctx) => listTagTraffic(ctx, lastDays(ctx, 30), {}),
  "the queue": getQueue,
  "the recent failures": (ctx) => listFailures(ctx, 6),
  "the delivery times": (ctx) => getDeliveryTimes(ctx, new Date(0)),
};

/** Stores emails whose recipients the filled counts include already. */
async function fillStored(hot: HotSql, teamId: string): Promise<void> {
  await fillEmails(hot, teamId, storedEmails);
  await hot`
    update emails set status = 'queued' where team_id = ${teamId}
      and id in (select id from emails where team_id = ${teamId} order by id desc limit ${queuedEmails})`;
  await hot`
    insert into metrics_progress (team_id, position, event_id)
    select team_id, position, id from email_events where team_id = ${teamId} order by position desc, id desc limit 1`;
  await hot.unsafe("vacuum analyze emails");
}

async function fillCounts(hot: HotSql, teamId: string): Promise<void> {
  const counts = `received, sent, delivered, bounced_permanent, bounced_transient, bounced_undetermined, complained, failed, unknown,
    suppressed, canceled, delayed, opens, clicks, openers, clickers, opens_tracked, clicks_tracked, unsubscribed`;
  const perHour = Math.round(emailsPerMonth / 30 / 24 / 80);
  for (const [unit, length, scale] of [
    ["hour", "1 hour", 1],
    ["day", "1 day", 24],
  ] as const) {
    const values = [perHour * scale, 0, perHour * scale, ...Array.from({ length: 16 }, () => 0)].join(", ");
    const times = `generate_series(date_trunc('day', now(), 'UTC') - interval '${days} days', now(), interval '${length}')`;
    await hot.unsafe(
      `insert into recipient_counts (team_id, tag, unit, starts_at, domain, api_key_id, provider, ${counts})
       select $1, '', '${unit}', at, 'domain-' || d || '.example', ('01900000-0000-7000-8000-00000000000' || k)::uuid, p, ${values}
       from ${times} at, generate_series(1, 4) d, generate_series(1, 4) k,
         unnest(array['gmail', 'microsoft', 'yahoo', 'apple', 'other']) p`,
      [teamId],
    );
    // The tags of the last 90 days: no range of the measured ones is longer.
    await hot.unsafe(
      `insert into recipient_counts (team_id, tag, unit, starts_at, domain, api_key_id, provider, ${counts})
       select $1, 'kind:' || t, '${unit}', at, 'domain-1.example', '01900000-0000-7000-8000-000000000001', 'gmail', ${values}
       from ${times} at, generate_series(1, ${tagsPerDay}) t where at > now() - interval '90 days'`,
      [teamId],
    );
  }
  await fillTotals(hot);
  await hot.unsafe("vacuum analyze recipient_counts");
  await hot.unsafe("vacuum analyze recipient_totals");
}
