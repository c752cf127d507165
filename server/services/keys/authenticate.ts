import type { HotSql } from "#db/client";
import { withinMs } from "#db/gate";
import type { OwnLimits } from "#db/schema/api-keys";
import type { SenderDomain } from "#server/deps";
import { errorFacts, type Log } from "#server/log";
import { secretHashOf } from "#server/secrets";

/** A revoked key is refused at most this much later; a busy one costs two look-ups a second instead of thousands. */
const rememberedMs = 500;
const rememberedMax = 10_000;
const lastUsedEveryMs = 60_000;
/** A look-up that takes longer is given up, and the caller told to come back. */
const lookUpMsMax = 2_000;

export type KnownKey = {
  id: string;
  teamId: string;
  scopes: string[];
  allDomains: boolean;
  domains: SenderDomain[];
  limits: OwnLimits;
};

/** Tells whose token it is, or null: malformed, unknown, revoked and expired tokens are alike. */
export type Authenticate = (token: string) => Promise<KnownKey | null>;

/**
 * Finds a key by SHA-256 of its secret, one indexed look-up. Requests that ask for the same key at the same moment
 * share one look-up; only keys that exist are remembered, so guesses fill nothing.
 */
export function createAuthenticate(hot: HotSql, clock: () => Date, log: Log): Authenticate {
  const remembered = new Map<string, { key: Promise<KnownKey | null>; untilMs: number }>();
  const touchedMs = new Map<string, number>();

  const touch = (id: string, nowMs: number) => {
    if (nowMs - (touchedMs.get(id) ?? 0) < lastUsedEveryMs) return;
    if (touchedMs.size >= rememberedMax) touchedMs.clear();
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
    const nowMs = clock().getTime();
    let entry = remembered.get(name);
    if (!entry || entry.untilMs <= nowMs) {
      if (remembered.size >= rememberedMax) remembered.clear();
      entry = { key: findKey(hot, hash), untilMs: nowMs + rememberedMs };
      remembered.set(name, entry);
      const forget = () => remembered.get(name) === entry && remembered.delete(name);
      entry.key.then((key) => key === null && forget(), forget);
    }
    const key = await withinMs(lookUpMsMax, entry.key);
    if (key) touch(key.id, nowMs);
    return key;
  };
}

async function findKey(hot: HotSql, secretHash: Uint8Array): Promise<KnownKey | null> {
  const [row] = await hot<KnownKey[]>`
    select k.id, k.team_id as "teamId", k.scopes, k.all_domains as "allDomains", k.limits,
      (select coalesce(jsonb_agg(jsonb_build_object('id', d.id, 'name', d.name, 'verified', d.status = 'verified' and d.sending,
         'openTracking', d.open_tracking, 'clickTracking', d.click_tracking)), '[]')
       from domains d
       where d.team_id = k.team_id
         and (k.all_domains or exists (select from api_key_domains l where l.api_key_id = k.id and l.domain_id = d.id))
      ) as domains
    from api_keys k
    where k.secret_hash = ${secretHash} and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`;
  return row ?? null;
}
