import type { KeyObject } from "node:crypto";
import type { Deps } from "#server/deps";
import type { DkimAlgorithm } from "#server/mail/dkim/key";
import { readPrivateKey } from "#server/mail/dkim/key";
import type { SigningKey } from "#server/mail/dkim/sign";
import { placeOfKey } from "./dkim-keys";

/** A domain as its keys are found by. */
export type SigningDomain = { teamId: string; domainId: string; domain: string };

/** A key and the span of acceptance whose mail it signs; of the end, the first moment without it. */
export type TimedKey = { key: SigningKey; id: string; fromMs: number; untilMs: number };

/** A key that was sealed under another secret, or touched since. */
export class KeyDoesNotOpen extends Error {}

type KeyRow = {
  id: string;
  algorithm: DkimAlgorithm;
  selector: string;
  privateKey: string;
  signsFrom: Date;
  signsUntil: Date | null;
};

/**
 * The keys that a domain signs or has signed with, RSA first. Those among `opened` are not opened again. Throws where the
 * database is away, and KeyDoesNotOpen.
 */
export async function readSigningKeys(
  { hot, vault }: Pick<Deps, "hot" | "vault">,
  { teamId, domainId, domain }: SigningDomain,
  opened: readonly TimedKey[] = [],
): Promise<TimedKey[]> {
  const openKey = ({ id, privateKey, algorithm }: KeyRow): KeyObject => {
    try {
      return readPrivateKey(vault.open(privateKey, placeOfKey(teamId, id)), algorithm);
    } catch (cause) {
      throw new KeyDoesNotOpen("a DKIM key does not open", { cause });
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

/** Those that sign what was accepted at that time, so that every attempt has the same. */
export function keysAt(keys: readonly TimedKey[], acceptedAt: Date): SigningKey[] {
  const acceptedMs = acceptedAt.getTime();
  return keys
    .filter(({ fromMs, untilMs }) => fromMs <= acceptedMs && acceptedMs < untilMs)
    .map(({ key }) => key);
}
