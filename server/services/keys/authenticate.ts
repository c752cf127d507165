import type { HotSql } from "#db/client";
import { withinMs } from "#db/gate";
import { errorFacts, type Log } from "#server/platform/log";
import { secretHashOf } from "#server/platform/secrets/secrets";
import { createKeyCache, type FoundKey, type KeyCache, type KnownKey } from "./cache";

const touchedMax = 10_000;
const lastUsedEveryMs = 60_000;
/** A lookup that takes longer is aborted; the API then asks the caller to retry. */
const lookupMsMax = 2_000;

/**
 * Returns the key of a token, or null: malformed, unknown, revoked and expired tokens are indistinguishable.
 */
export type Authenticate = (token: string) => Promise<KnownKey | null>;

/**
 * Finds a key by the SHA-256 hash of its secret: in `cache`, otherwise by one indexed lookup. The default
 * cache stores nothing.
 */
export function createAuthenticate(
  hot: HotSql,
  clock: () => Date,
  log: Log,
  cache: KeyCache = createKeyCache(clock),
): Authenticate {
  const touchedMs = new Map<string, number>();

  const touch = (id: string, nowMs: number) => {
    if (nowMs - (touchedMs.get(id) ?? 0) < lastUsedEveryMs) return;
    if (touchedMs.size >= touchedMax) touchedMs.clear();
    touchedMs.set(id, nowMs);
    hot`update api_keys set last_used_at = now()
        where id = ${id} and (last_used_at is null or last_used_at < now() - interval '1 minute')`.catch(
      (error) => log.warn("key.last_used_not_written", { keyId: id, ...errorFacts(error) }),
    );
  };

  return async (token) => {
    const hash = secretHashOf(token);
    if (!hash) return null;
    const name = Buffer.from(hash).toString("base64");
    const key = await cache.get(name, () => withinMs(lookupMsMax, findKey(hot, hash)));
    if (key) touch(key.id, clock().getTime());
    return key;
  };
}

async function findKey(hot: HotSql, secretHash: Uint8Array): Promise<FoundKey | null> {
  const [row] = await hot<(KnownKey & { expiresInMs: number | null })[]>`
    select k.id, k.team_id as "teamId", coalesce(k.family_id, k.id) as "familyId", k.scopes, k.all_domains as "allDomains", k.limits,
      k.client_networks as "clientNetworks",
      (extract(epoch from k.expires_at - now()) * 1000)::float8 as "expiresInMs",
      (select coalesce(jsonb_agg(jsonb_build_object('id', d.id, 'name', d.name, 'verified', d.status = 'verified' and d.sending,
         'openTracking', d.open_tracking, 'clickTracking', d.click_tracking, 'trackingHost', d.tracking_host)), '[]')
       from domains d
       where d.team_id = k.team_id
         and (k.all_domains or exists (select from api_key_domains l where l.api_key_id = k.id and l.domain_id = d.id))
      ) as domains
    from api_keys k
    where k.secret_hash = ${secretHash} and k.revoked_at is null
      and not exists (select from team_deletions x where x.team_id = k.team_id and x.canceled_at is null) and (k.expires_at is null or k.expires_at > now())`;
  if (!row) return null;
  const { expiresInMs, ...key } = row;
  return { key, expiresInMs };
}
