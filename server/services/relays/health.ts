import type { HotSql } from "#db/client";
import type { RelayProvider, relays } from "#db/schema/relays";
import { runPrepared } from "#db/statement";
import type { Relay } from "#server/mail/transport/relay";

/** A paused relay is tried once per interval, by one worker for all. */
export const relayProbeEveryMs = 60_000;
/** Consecutive connection faults that pause a relay. A login or TLS fault pauses it immediately. */
export const relayFaultsMax = 3;

/** A relay with everything needed to send through it. `url` is sealed. */
export type SendingRelay = Pick<
  typeof relays.$inferSelect,
  "id" | "teamId" | "domainId" | "name" | "url" | "host" | "dkim" | "failures" | "lastFault" | "pauseReason"
> & {
  provider: RelayProvider | null;
  /** Time until the next attempt, at least 0; null if it is not paused. */
  pausedForMs: number | null;
  /** The relay of `SMTP_URL`. Its state is in `smtp_url_relays`, and `url` is empty. */
  isSmtpUrl: boolean;
};

/** What identifies the state of a relay. */
export type RelayState = Pick<SendingRelay, "id" | "host" | "isSmtpUrl">;

const PAUSED_FOR = `when paused_until is not null
    then greatest(0, extract(epoch from paused_until - now()) * 1000)::float8 end as "pausedForMs"`;
const STATE = `failures, last_fault as "lastFault", case ${PAUSED_FOR}`;
const COLUMNS = `id, team_id as "teamId", domain_id as "domainId", name, url, host, dkim,
  coalesce(provider, added_provider) as provider, failures,
  last_fault as "lastFault", pause_reason as "pauseReason", false as "isSmtpUrl",
  case when pause_reason is not null then ${relayProbeEveryMs}::float8 ${PAUSED_FOR}`;

const tableOf = ({ isSmtpUrl }: Pick<RelayState, "isSmtpUrl">): string =>
  isSmtpUrl ? "smtp_url_relays" : "relays";

/** The relays that send email of these teams, in the order in which they are tried. */
export async function listRelaysFor(hot: HotSql, teamIds: readonly string[]): Promise<SendingRelay[]> {
  const text = `select ${COLUMNS} from relays where not is_untested and (team_id is null or team_id = any($1::uuid[]))
    order by position, created_at, id`;
  return runPrepared<SendingRelay>(hot, text, [teamIds]);
}

/** The relay of `SMTP_URL` with its current state. */
export async function getSmtpUrlRelay(hot: HotSql, relay: Pick<Relay, "id" | "host">): Promise<SendingRelay> {
  const text = `select ${STATE} from smtp_url_relays where id = $1::text`;
  const [state] = await runPrepared<Pick<SendingRelay, "failures" | "lastFault" | "pausedForMs">>(hot, text, [
    relay.id,
  ]);
  return { ...smtpUrlRelayOf(relay), ...state };
}

const smtpUrlRelayOf = ({ id, host }: Pick<Relay, "id" | "host">): SendingRelay => ({
  id,
  host,
  isSmtpUrl: true,
  name: "SMTP_URL",
  teamId: null,
  domainId: null,
  url: "",
  dkim: true,
  provider: null,
  failures: 0,
  lastFault: null,
  pauseReason: null,
  pausedForMs: null,
});

/**
 * Counts a fault of a relay, and pauses it after `relayFaultsMax` faults or if `shouldPauseNow`. Returns
 * whether it is paused, and whether this fault paused it; null if the relay was removed.
 */
export async function recordRelayFault(
  hot: HotSql,
  relay: RelayState,
  { fault, shouldPauseNow }: { fault: string; shouldPauseNow: boolean },
): Promise<{ isPaused: boolean; isNew: boolean } | null> {
  if (relay.isSmtpUrl)
    await hot`insert into smtp_url_relays (id, host) values (${relay.id}, ${relay.host}) on conflict do nothing`;
  const table = tableOf(relay);
  const [row] = await hot.unsafe<{ isPaused: boolean; isNew: boolean }[]>(
    `with before as materialized (select id, paused_until, failures from ${table} where id = $1 for no key update)
    update ${table} r
    set failures = b.failures + 1, last_fault = $2, last_fault_at = now(),
        paused_until = case when b.paused_until is not null then b.paused_until
          when $3::bool or b.failures + 1 >= ${relayFaultsMax}
          then now() + ${relayProbeEveryMs} * interval '1 ms' end
    from before b where r.id = b.id
    returning r.paused_until is not null as "isPaused",
      b.paused_until is null and r.paused_until is not null as "isNew"`,
    [relay.id, fault, shouldPauseNow],
  );
  return row ?? null;
}

/** Resets the fault count of a healthy relay. A paused relay stays paused until it was tried. */
export async function recordRelaySuccess(hot: HotSql, relay: RelayState): Promise<void> {
  const text = `update ${tableOf(relay)} set failures = 0 where id = $1 and failures > 0 and paused_until is null`;
  await hot.unsafe(text, [relay.id]);
}

/**
 * Claims the paused relays that are due to be tried, among them that of this process's `SMTP_URL`: one worker
 * each, and not again before the next interval.
 */
export async function claimRelayProbes(
  hot: HotSql,
  { limit, smtpUrlRelay }: { limit: number; smtpUrlRelay: Pick<Relay, "id" | "host"> | null },
): Promise<SendingRelay[]> {
  const due = await hot.unsafe<SendingRelay[]>(
    `update relays set paused_until = now() + ${relayProbeEveryMs} * interval '1 ms'
     where id in (select id from relays where paused_until <= now() and pause_reason is null order by paused_until limit $1
                  for update skip locked)
     returning ${COLUMNS}`,
    [limit],
  );
  if (!smtpUrlRelay) return due;
  const { count } = await hot`
    update smtp_url_relays set paused_until = now() + ${relayProbeEveryMs} * interval '1 ms'
    where id = ${smtpUrlRelay.id} and paused_until <= now()`;
  return count === 0 ? due : [...due, smtpUrlRelayOf(smtpUrlRelay)];
}

/**
 * Ends the pause of a relay after a successful test; a pause by the operator stays. A relay whose URL was
 * changed during the test stays paused. Returns whether it was paused.
 */
export async function resumeRelay(
  hot: HotSql,
  { id, url, isSmtpUrl }: Pick<SendingRelay, "id" | "url" | "isSmtpUrl">,
): Promise<boolean> {
  const { count } = isSmtpUrl
    ? await hot`update smtp_url_relays set paused_until = null, failures = 0 where id = ${id} and paused_until is not null`
    : await hot`
        update relays set paused_until = null, failures = 0, is_untested = false
        where id = ${id} and url = ${url} and paused_until is not null`;
  return count > 0;
}

/** Rows of one statement, and statements of one call. */
const dueBatch = { rowsMax: 10_000, batchesMax: 10 };

/**
 * Makes email due that waits for paused relays, of one team or of all teams, when relays were removed or
 * resumed, or a new one can be used. If more waits than one call makes due, the rest is due within ten
 * minutes, as `routing/routes.ts` spreads it.
 */
export async function requeuePaused(hot: HotSql, teamId: string | null): Promise<void> {
  for (let n = 0; n < dueBatch.batchesMax; n++) {
    const { count } = await hot`
      update deliveries set due_at = now(), wait_rule = null
      where (team_id, email_id, id) in (
        select d.team_id, d.email_id, d.id from deliveries d
        where d.status = 'queued' and d.wait_rule = 'relay_paused'
          and (${teamId}::uuid is null or d.team_id = ${teamId}::uuid)
        limit ${dueBatch.rowsMax} for update of d skip locked)`;
    if (count < dueBatch.rowsMax) return;
  }
}

/**
 * Queues deliveries that waited for a transport and now have a relay. Up to `limit` rows; returns their
 * number.
 */
export async function requeueRelayed(hot: HotSql, limit: number): Promise<number> {
  const { count } = await hot`
    update deliveries set due_at = now(), wait_rule = null
    where (team_id, email_id, id) in (
      select d.team_id, d.email_id, d.id from deliveries d
      where d.status = 'queued' and d.due_at = 'infinity' and d.wait_rule = 'no_transport'
        and exists (select from relays where not is_untested)
        and exists (select from relays r where not r.is_untested and (r.team_id is null or (r.team_id = d.team_id and (
          r.domain_id is null or exists (
            select from emails e join domains o on o.team_id = e.team_id and o.name = e.sender_domain
            where e.team_id = d.team_id and e.id = d.email_id and o.id = r.domain_id)))))
      limit ${limit} for update of d skip locked)`;
  return count;
}
