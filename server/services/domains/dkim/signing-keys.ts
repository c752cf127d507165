import type { dkimKeys } from "#db/schema/domains";
import type { Deps } from "#server/deps";
import { parsePrivateKey } from "#server/mail/dkim/key";
import type { SigningKey } from "#server/mail/dkim/sign";
import { SEALED } from "#server/platform/secrets/sealed-columns";

/** The fields by which the keys of a domain are found. */
export type SigningDomain = { teamId: string; domainId: string; domain: string };

/**
 * A key, or why it cannot be opened, and the range of acceptance times whose email it signs; `untilMs` is
 * exclusive.
 */
export type TimedKey = { key: SigningKey | DkimKeyUnreadable; id: string; fromMs: number; untilMs: number };

/** A private key was sealed with another secret, or was modified since. */
export class DkimKeyUnreadable extends Error {}

type KeyRow = Omit<typeof dkimKeys.$inferSelect, "signsFrom"> & { signsFrom: Date };

/**
 * The keys that a domain signs with or has signed with, RSA first. Keys in `opened` are not decrypted again.
 * Throws if the database is unavailable.
 */
export async function listSigningKeys(
  { hot, vault }: Pick<Deps, "hot" | "vault">,
  { teamId, domainId, domain }: SigningDomain,
  opened: readonly TimedKey[] = [],
): Promise<TimedKey[]> {
  const openKey = ({ id, privateKey, algorithm, selector }: KeyRow): SigningKey | DkimKeyUnreadable => {
    try {
      const opened = parsePrivateKey(
        vault.open(privateKey, SEALED.dkimKey.locationOf({ id, teamId })),
        algorithm,
      );
      return { algorithm, domain, selector, privateKey: opened };
    } catch (cause) {
      return new DkimKeyUnreadable("a DKIM key cannot be decrypted", { cause });
    }
  };
  const rows = await hot<KeyRow[]>`
    select id, algorithm, selector, private_key as "privateKey", signs_from as "signsFrom", signs_until as "signsUntil"
    from dkim_keys where team_id = ${teamId} and domain_id = ${domainId} and signs_from is not null
    order by algorithm desc, created_at`;
  return rows.map((row) => ({
    id: row.id,
    key: opened.find(({ id, key }) => id === row.id && !(key instanceof Error))?.key ?? openKey(row),
    fromMs: row.signsFrom.getTime(),
    untilMs: row.signsUntil?.getTime() ?? Number.POSITIVE_INFINITY,
  }));
}

/**
 * The keys that sign email accepted at this time: the same for every attempt. Throws DkimKeyUnreadable if one
 * of these cannot be opened; other keys, such as one that was replaced after its secret was lost, do not
 * matter.
 */
export function keysAt(keys: readonly TimedKey[], acceptedAt: Date): SigningKey[] {
  const acceptedMs = acceptedAt.getTime();
  return keys
    .filter(({ fromMs, untilMs }) => fromMs <= acceptedMs && acceptedMs < untilMs)
    .map(({ key }) => {
      if (key instanceof DkimKeyUnreadable) throw key;
      return key;
    });
}
