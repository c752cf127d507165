import { randomBytes } from "node:crypto";
import { and, isNull } from "drizzle-orm";
import { BUILT_IN_DOMAIN, domains } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { DKIM_ALGORITHMS } from "#server/mail/dkim/key";
import { type Domain, findDomain, isDomain } from "../read";
import { addFirstKeys, generateFirstKeys } from "./keys";

const tokenBytes = 24;

/**
 * A token of 192 random bits, unique to one row. If the domain is added again it gets a new token: an old
 * token that is still in DNS proves nothing for the new owner.
 */
export const newOwnershipToken = (): string => randomBytes(tokenBytes).toString("base64url");

/**
 * Returns the domain with its DKIM keys and ownership token, and creates those that are missing: operator
 * commands add domains without them, because a command may run where the encryption secret is not set. When
 * several callers run at once, one key of each algorithm is kept.
 */
export async function withCredentials(ctx: Ctx, domain: Domain): Promise<Domain> {
  if (domain.name === BUILT_IN_DOMAIN) return domain;
  const lacking = DKIM_ALGORITHMS.filter((kind) =>
    domain.dkimKeys.every(({ algorithm }) => algorithm !== kind),
  );
  if (lacking.length === 0 && domain.ownershipToken !== null) return domain;
  await addFirstKeys(ctx.db, domain, await generateFirstKeys(ctx, domain.id, lacking));
  await ctx.db
    .update(domains)
    .set({ ownershipToken: newOwnershipToken() })
    .where(and(isDomain(ctx, domain.id), isNull(domains.ownershipToken)));
  return findDomain(ctx, domain.id);
}

/** One domain, with all the values to publish for it. */
export const getDomain = async (ctx: Ctx, id: string): Promise<Domain> =>
  withCredentials(ctx, await findDomain(ctx, id));
