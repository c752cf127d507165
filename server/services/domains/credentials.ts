import { randomBytes } from "node:crypto";
import { and, eq, isNull } from "drizzle-orm";
import { BUILT_IN_DOMAIN, domains } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { DKIM_ALGORITHMS } from "#server/mail/dkim/key";
import { addFirstKey } from "./dkim-keys";
import { type Domain, findDomain } from "./read";

const tokenBytes = 24;

/**
 * A token of 192 random bits for one row of one name: whoever adds the name next gets another, so a token that still
 * stands in DNS says nothing for him.
 */
export const newOwnershipToken = (): string => randomBytes(tokenBytes).toString("base64url");

/**
 * The domain with its DKIM keys, made now where it has none: the operator's commands add domains without, since they may
 * run where nothing can be sealed. Of several at once one key of each kind stays.
 */
export async function withCredentials(ctx: Ctx, domain: Domain): Promise<Domain> {
  if (domain.name === BUILT_IN_DOMAIN) return domain;
  const lacking = DKIM_ALGORITHMS.filter((kind) =>
    domain.dkimKeys.every(({ algorithm }) => algorithm !== kind),
  );
  if (lacking.length === 0 && domain.ownershipToken !== null) return domain;
  await Promise.all(lacking.map((algorithm) => addFirstKey(ctx, domain, algorithm)));
  await ctx.db
    .update(domains)
    .set({ ownershipToken: newOwnershipToken() })
    .where(and(eq(domains.teamId, ctx.teamId), eq(domains.id, domain.id), isNull(domains.ownershipToken)));
  return findDomain(ctx, domain.id);
}

/** One domain, with everything there is to publish for it. */
export const getDomain = async (ctx: Ctx, id: string): Promise<Domain> =>
  withCredentials(ctx, await findDomain(ctx, id));
