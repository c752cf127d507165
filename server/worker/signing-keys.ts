import type { KeyObject } from "node:crypto";
import { performance } from "node:perf_hooks";
import type { WorkerDeps } from "#server/deps";
import type { DkimAlgorithm } from "#server/mail/dkim/key";
import { readPrivateKey } from "#server/mail/dkim/key";
import type { SigningKey } from "#server/mail/dkim/sign";
import { placeOfKey, takeOverMs } from "#server/services/domains/dkim-keys";
import type { Place } from "#server/vault";

/** How long what was read of a domain is believed; a new key begins to sign only after all have read of it. */
const believedMs = takeOverMs / 4;
/** Domains whose keys are remembered, and parsed, at most; the one read longest ago makes room. */
const domainsMax = 1_000;

/** A mail as its keys are chosen by. */
export type SignedMail = { teamId: string; domainId: string; domain: string; createdAt: Date };

type KeyRow = {
  id: string;
  algorithm: DkimAlgorithm;
  selector: string;
  privateKey: string;
  signsFrom: Date;
  signsUntil: Date | null;
};
type Known = { key: SigningKey; id: string; fromMs: number; untilMs: number };

/** A key that was sealed under another secret, or touched since. */
export class KeyDoesNotOpen extends Error {}

/**
 * The keys that sign a mail, RSA first: those whose time it was accepted in, so every attempt has the same. Keys are parsed
 * once. Throws where the database is away, and KeyDoesNotOpen: mail that should be signed is never sent without.
 */
export function createSigningKeys(
  deps: Pick<WorkerDeps, "hot" | "vault">,
): (mail: SignedMail) => Promise<SigningKey[]> {
  const remembered = new Map<string, { readAtMs: number; keys: Promise<Known[]> }>();

  async function read({ teamId, domainId, domain }: SignedMail, before: Known[]): Promise<Known[]> {
    const rows = await deps.hot<KeyRow[]>`
      select id, algorithm, selector, private_key as "privateKey", signs_from as "signsFrom", signs_until as "signsUntil"
      from dkim_keys where team_id = ${teamId} and domain_id = ${domainId} and signs_from is not null
      order by algorithm desc, created_at`;
    return rows.map(({ id, algorithm, selector, privateKey, signsFrom, signsUntil }) => ({
      id,
      key: before.find((known) => known.id === id)?.key ?? {
        algorithm,
        domain,
        selector,
        privateKey: openKey(privateKey, placeOfKey(teamId, id), algorithm),
      },
      fromMs: signsFrom.getTime(),
      untilMs: signsUntil?.getTime() ?? Number.POSITIVE_INFINITY,
    }));
  }

  function openKey(sealed: string, place: Place, algorithm: DkimAlgorithm): KeyObject {
    try {
      return readPrivateKey(deps.vault.open(sealed, place), algorithm);
    } catch (cause) {
      throw new KeyDoesNotOpen("a DKIM key does not open", { cause });
    }
  }

  function keysOf(mail: SignedMail): Promise<Known[]> {
    const { domainId } = mail;
    const nowMs = performance.now();
    const found = remembered.get(domainId);
    if (found && nowMs - found.readAtMs < believedMs) return found.keys;
    const before = found ? found.keys.catch(() => []) : Promise.resolve([]);
    const keys = before.then((known) => read(mail, known));
    remembered.delete(domainId);
    const [oldest] = remembered.keys();
    if (remembered.size >= domainsMax && oldest !== undefined) remembered.delete(oldest);
    remembered.set(domainId, { readAtMs: nowMs, keys });
    keys.catch(() => {
      if (remembered.get(domainId)?.keys === keys) remembered.delete(domainId);
    });
    return keys;
  }

  return async (mail) => {
    const acceptedMs = mail.createdAt.getTime();
    return (await keysOf(mail))
      .filter(({ fromMs, untilMs }) => fromMs <= acceptedMs && acceptedMs < untilMs)
      .map(({ key }) => key);
  };
}
