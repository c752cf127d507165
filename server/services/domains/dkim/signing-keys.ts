import type { KeyObject } from "node:crypto";
import type { dkimKeys } from "#db/schema/domains";
import type { Deps } from "#server/deps";
import { readPrivateKey } from "#server/mail/dkim/key";
import type { SigningKey } from "#server/mail/dkim/sign";
import { dkimKeyPlace } from "./keys";

/** The fields by which the keys of a domain are found. */
export type SigningDomain = { teamId: string; domainId: string; domain: string };

/** A key and the range of acceptance times whose email it signs; `untilMs` is exclusive. */
export type TimedKey = { key: SigningKey; id: string; fromMs: number; untilMs: number };

/** A private key was sealed with another secret, or was modified since. */
export class DkimKeyUnreadable extends Error {}

type KeyRow = Omit<typeof dkimKeys.$inferSelect, "signsFrom"> & { signsFrom: Date };

/**
 * The keys that a domain signs with or has signed with, RSA first. Keys in `opened` are not decrypted again.
 * Throws if the database is unavailable, and DkimKeyUnreadable.
 */
export async function readSigningKeys(
  { hot, vault }: Pick<Deps, "hot" | "vault">,
  { teamId, domainId, domain }: SigningDomain,
  opened: readonly TimedKey[] = [],
): Promise<TimedKey[]> {
  const openKey = ({ id, privateKey, algorithm }: KeyRow): KeyObject => {
    try {
      return readPrivateKey(vault.open(privateKey, dkimKeyPlace(teamId, id)), algorithm);
    } catch (cause) {
      throw new DkimKeyUnreadable("a DKIM key cannot be decrypted", { cause });
    }
  };
  const rows = await hot<KeyRow[]>`
    select id, algorithm, selector, private_key as "privateKey", signs_from as "signsFrom", signs_until as "signsUntil"
    from dkim_keys where team_id = ${teamId} and domain_id = ${domainId} and signs_from is not null
    order by algorithm desc, created_at`;
  return rows.map((row) => ({
    id: row.id,
    key: opened.find(({ id }) => id === row.id)?.key ?? {
      algorithm: row.algorithm,
      domain,
      selector: row.selector,
      privateKey: openKey(row),
    },
    fromMs: row.signsFrom.getTime(),
    untilMs: row.signsUntil?.getTime() ?? Number.POSITIVE_INFINITY,
  }));
}

/** The keys that sign email accepted at this time: the same for every attempt. */
export function keysAt(keys: readonly TimedKey[], acceptedAt: Date): SigningKey[] {
  const acceptedMs = acceptedAt.getTime();
  return keys
    .filter(({ fromMs, untilMs }) => fromMs <= acceptedMs && acceptedMs < untilMs)
    .map(({ key }) => key);
}
