import type { HotSql } from "#db/client";
import type { Condition } from "./kinds";
import { formatRate, formatShare, listDomainRates, RATE_LIMITS, rateOf, rateRecipientsMin } from "./rates";

/**
 * Conditions of one kind in one round. More at a time are a fault of the installation, which has alerts of
 * its own.
 */
export const conditionsMax = 1_000;

type Rated = "bounced" | "complained";
const RATE_KINDS = { bounced: "bounce_rate", complained: "complaint_rate" } as const;
const RATE_WORDS = { bounced: "bounced", complained: "marked the email as spam" } as const;

/**
 * Domains whose bounce or complaint rate is above the limit; with an open alert, above the lower one at which
 * it is resolved.
 */
export async function findHighRates(hot: HotSql): Promise<Condition[]> {
  const [rates, open] = await Promise.all([listDomainRates(hot), readOpenRates(hot)]);
  const conditions = rates.flatMap((of) =>
    (["bounced", "complained"] as const).flatMap((result): Condition[] => {
      const rate = rateOf(of, result);
      const { share, resolvedShare, countMin } = RATE_LIMITS[result];
      const kind = RATE_KINDS[result];
      const limit = open.has(`${of.teamId} ${kind} ${of.domain}`) ? resolvedShare : share;
      if (rate.recipients < rateRecipientsMin || rate.count < countMin || rate.share <= limit) return [];
      const message = `${formatRate(rate)} of ${of.domain} ${RATE_WORDS[result as Rated]} in the last 24 hours. The limit is ${formatShare(share)}.`;
      return [{ kind, teamId: of.teamId, subject: of.domain, name: of.domain, message }];
    }),
  );
  return conditions.slice(0, conditionsMax);
}

async function readOpenRates(hot: HotSql): Promise<Set<string>> {
  const rows = await hot<{ teamId: string; kind: string; subject: string }[]>`
    select team_id as "teamId", kind, subject from alerts
    where kind in ('bounce_rate', 'complaint_rate') and opened_at is not null and resolved_at is null`;
  return new Set(rows.map(({ teamId, kind, subject }) => `${teamId} ${kind} ${subject}`));
}

type Found = Omit<Condition, "kind">;

/**
 * Verified domains whose records failed twice, and domains that lost their verification: unlike a new domain,
 * they do not expire.
 */
export async function findLostDomains(hot: HotSql): Promise<Condition[]> {
  const rows = await hot<(Found & { isVerified: boolean })[]>`
    select team_id as "teamId", id as subject, name, status = 'verified' as "isVerified" from domains
    where declared_verified_at is null and expires_at is null
      and ((status = 'verified' and failed_checks >= 2) or status in ('failed', 'partially_failed'))
    order by id limit ${conditionsMax}`;
  return rows.map(({ isVerified, ...row }) => ({
    ...row,
    kind: "domain_dns",
    message: isVerified
      ? `The DNS records that prove the ownership of ${row.name} are missing or wrong. It still sends, but loses its verification if they are not back within three days.`
      : `${row.name} lost its verification, because its DNS records are missing or wrong. Email from it is rejected.`,
  }));
}

/** A forwarder breaks the alignment of a few messages, and no alert is due. */
const unalignedMessagesMin = 50;
const newDays = 7;
const namedSourcesMax = 3;

/**
 * Domains of which reports name a source that is not ours, is not aligned and was not reported earlier. The
 * condition ends when the source is no longer new.
 */
export async function findUnalignedSources(hot: HotSql): Promise<Condition[]> {
  const rows = await hot<(Found & { sources: string[]; messages: number })[]>`
    with recent as (
      select team_id, domain_id, source, sum(count) as messages from domain_report_counts
      where kind = 'dmarc' and day >= current_date - ${newDays}::int and not is_ours and not is_aligned and source <> ''
      group by team_id, domain_id, source having sum(count) >= ${unalignedMessagesMin}
    )
    select r.team_id as "teamId", r.domain_id as subject, d.name, sum(r.messages)::float8 as messages,
      array_agg(r.source order by r.messages desc, r.source) as sources
    from recent r join domains d on d.team_id = r.team_id and d.id = r.domain_id
    where not exists (select from domain_report_counts c where c.team_id = r.team_id and c.domain_id = r.domain_id
      and c.kind = 'dmarc' and c.source = r.source and c.day < current_date - ${newDays}::int)
    group by r.team_id, r.domain_id, d.name order by r.domain_id limit ${conditionsMax}`;
  return rows.map(({ sources, messages, ...row }) => {
    const more = sources.length - namedSourcesMax;
    const named = `${sources.slice(0, namedSourcesMax).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
    const message = `DMARC reports name ${messages.toLocaleString("en")} messages from ${row.name} that are not aligned, from ${named}. No earlier report did.`;
    return { ...row, kind: "unaligned_source", message };
  });
}

/** Endpoints that Backstamp disabled. Those that a member disabled are normal. */
export async function findDisabledEndpoints(hot: HotSql): Promise<Condition[]> {
  const rows = await hot<(Found & { reason: "gone" | "failing" })[]>`
    select team_id as "teamId", id as subject, url as name, disabled_reason as reason from webhooks
    where status = 'disabled' and disabled_reason is not null order by id limit ${conditionsMax}`;
  return rows.map(({ reason, name: url, ...row }) => ({
    ...row,
    // Operators see the alert, too, and the rest of the URL can contain a token of the team.
    name: new URL(url).host,
    kind: "endpoint_disabled",
    message: `The endpoint at ${new URL(url).host} ${reason === "gone" ? "responded 410 Gone" : "failed for days without a success"} and was disabled. It receives no events.`,
  }));
}

/** Teams that are paused: for their members, and those that a rate paused also for the operators. */
export async function findPausedTeams(hot: HotSql): Promise<Condition[]> {
  const rows = await hot<{ teamId: string; team: string; reason: string; isByRate: boolean }[]>`
    select p.team_id as "teamId", t.name as team, p.reason, p.actor = 'alert' as "isByRate"
    from queue_pauses p join teams t on t.id = p.team_id
    where p.lifted_at is null and p.domain is null order by p.id limit ${conditionsMax}`;
  return rows.flatMap(({ teamId, team: name, reason, isByRate }): Condition[] => {
    const message = `Sending is paused for the team ${name}. Reason: ${reason}`;
    const byRate = `Backstamp paused the team ${name}. Reason: ${reason}`;
    const ofTeam = { kind: "team_paused" as const, teamId, subject: "", name, message };
    const ofInstallation = { teamId: null, subject: teamId, name, message: byRate };
    return isByRate ? [ofTeam, { ...ofInstallation, kind: "team_paused_by_rate" }] : [ofTeam];
  });
}
