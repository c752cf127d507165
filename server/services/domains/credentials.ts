import { randomBytes } from "node:crypto";
import { and, eq, isNull } from "drizzle-orm";
import { BUILT_IN_DOMAIN, domains } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { createDkimKeyPair } from "#server/mail/dkim/key";
import { type Domain, domainColumns, findDomain } from "./read";

const tokenBytes = 24;
const selector = "posthorn";

/**
 * A token of 192 random bits for one row of one name: whoever adds the name next gets another, so a token that still
 * stands in DNS says nothing for him.
 */
export const newOwnershipToken = (): string => randomBytes(tokenBytes).toString("base64url");

/**
 * The domain with its DKIM key, made now where it has none: the operator's commands add domains without, since they may
 * run where nothing can be sealed. Of several at once one key stays.
 */
export async function withCredentials(ctx: Ctx, domain: Domain): Promise<Domain> {
  if (domain.name === BUILT_IN_DOMAIN || domain.dkimSelector !== null) return domain;
  const { privateKey, publicKey } = await createDkimKeyPair("rsa");
  const place = { table: "domains", column: "dkim_private_key", id: domain.id, teamId: ctx.teamId };
  const [made] = await ctx.db
    .update(domains)
    .set({
      dkimSelector: selector,
      dkimPrivateKey: ctx.vault.seal(privateKey, place),
      dkimPublicKey: publicKey,
      ownershipToken: domain.ownershipToken ?? newOwnershipToken(),
    })
    .where(and(eq(domains.teamId, ctx.teamId), eq(domains.id, domain.id), isNull(domains.dkimSelector)))
    .returning(domainColumns);
  return made ?? findDomain(ctx, domain.id);
}

/** One domain, with everything there is to publish for it. */
export const getDomain = async (ctx: Ctx, id: string): Promise<Domain> =>
  withCredentials(ctx, await findDomain(ctx, id));
