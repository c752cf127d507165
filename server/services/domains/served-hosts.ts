import type { HotSql } from "#db/client";
import { withinMs } from "#db/gate";
import { hostNameOf, isHostBelowDomain } from "#server/platform/http/host-name";

/** The error of any other request to a tracking host. */
export const ONLY_LINKS = "This host serves only the links in emails. Open them from the email itself.";

/** How long a process can miss that a host was added or removed. */
const cachedMs = 10_000;
const cachedMax = 10_000;
/** Every request to a host that is not ours waits this long at most while the database does not respond. */
const lookupMsMax = 1_000;

/** The tracking host that a request was sent to, by its `Host` header; null for any other host. */
export type FindServedHost = (header: string | null | undefined) => Promise<TrackingHost | null>;

/**
 * Looks up and caches hosts. Requests to `ownHosts`, to addresses and to names of fewer than three labels
 * cost nothing. While the database is not available, an unknown host counts as no tracking host: its links
 * still lead to their targets.
 */
export function createFindServedHost(
  hot: HotSql,
  clock: () => Date,
  ownHosts: readonly (string | null)[],
): FindServedHost {
  const entries = new Map<string, { found: Promise<TrackingHost | null>; untilMs: number }>();
  return async (header) => {
    const host = hostNameOf(header ?? "");
    if (ownHosts.includes(host) || !isHostBelowDomain(host)) return null;
    const nowMs = clock().getTime();
    const known = entries.get(host);
    if (known && known.untilMs > nowMs) return known.found;
    if (entries.size >= cachedMax) entries.clear();
    const found = withinMs(lookupMsMax, findTrackingHost(hot, host)).catch(() => null);
    entries.set(host, { found, untilMs: nowMs + cachedMs });
    return found;
  };
}

/** A host that serves links of the domains of these teams, and nothing else. */
export type TrackingHost = {
  teamIds: string[];
  /** Whether its domain is verified, so that a certificate may be requested for it. */
  isVerified: boolean;
};

/**
 * The host with this name, of any team; null if it is none, or if its domain is now verified for a team that
 * does not use it. A domain that is no longer verified keeps its links.
 */
export async function findTrackingHost(hot: HotSql, host: string): Promise<TrackingHost | null> {
  const [row] = await hot<TrackingHost[]>`
    select array_agg(h.team_id::text) as "teamIds", bool_or(d.status = 'verified') as "isVerified"
    from tracking_hosts h join domains d on d.team_id = h.team_id and d.id = h.domain_id
    where h.host = ${host} and h.seen_at is not null
      and (d.status = 'verified'
        or not exists (select from domains o where o.name = d.name and o.status = 'verified'))
    having count(*) > 0`;
  return row ?? null;
}
