import { performance } from "node:perf_hooks";
import type { WorkerDeps } from "#server/deps";
import type { SigningKey } from "#server/mail/dkim/sign";
import { takeOverMs } from "#server/services/domains/dkim-keys";
import {
  keysAt,
  readSigningKeys,
  type SigningDomain,
  type TimedKey,
} from "#server/services/domains/signing-keys";

/** How long what was read of a domain is believed; a new key begins to sign only after all have read of it. */
const believedMs = takeOverMs / 4;
/** Domains whose keys are remembered, and parsed, at most; the one read longest ago makes room. */
const domainsMax = 1_000;

/** A mail as its keys are chosen by. */
export type SignedMail = SigningDomain & { createdAt: Date };

/**
 * The keys that sign a mail, RSA first: those whose time it was accepted in, so every attempt has the same. Keys are parsed
 * once. Throws where the database is away, and KeyDoesNotOpen: mail that should be signed is never sent without.
 */
export function createSigningKeys(
  deps: Pick<WorkerDeps, "hot" | "vault">,
): (mail: SignedMail) => Promise<SigningKey[]> {
  const remembered = new Map<string, { readAtMs: number; keys: Promise<TimedKey[]> }>();

  function keysOf(mail: SignedMail): Promise<TimedKey[]> {
    const { domainId } = mail;
    const nowMs = performance.now();
    const found = remembered.get(domainId);
    if (found && nowMs - found.readAtMs < believedMs) return found.keys;
    const before = found ? found.keys.catch(() => []) : Promise.resolve([]);
    const keys = before.then((opened) => readSigningKeys(deps, mail, opened));
    remembered.delete(domainId);
    const [oldest] = remembered.keys();
    if (remembered.size >= domainsMax && oldest !== undefined) remembered.delete(oldest);
    remembered.set(domainId, { readAtMs: nowMs, keys });
    keys.catch(() => {
      if (remembered.get(domainId)?.keys === keys) remembered.delete(domainId);
    });
    return keys;
  }

  return async (mail) => keysAt(await keysOf(mail), mail.createdAt);
}
