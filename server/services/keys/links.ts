import { and, eq } from "drizzle-orm";
import type { Db } from "#db/client";
import { apiKeyDomains, apiKeys } from "#db/schema/api-keys";
import { domains } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/errors";
import { lacksPower, powerOfCaller } from "./grant";
import { alive } from "./keys";

export type Link = { keyId: string; domainId: string };

/** Lets a key send from a domain, felt within a second. A key reaches only domains that it has itself: else 403. */
export async function linkDomain(ctx: Ctx, link: Link): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    await checkLink(tx, ctx, link);
    await tx
      .insert(apiKeyDomains)
      .values({ teamId: ctx.teamId, apiKeyId: link.keyId, domainId: link.domainId })
      .onConflictDoNothing();
  });
}

/**
 * Ends a key's right to send from a domain, with the same reach. Mail that the key queued from it is not sent any more.
 * Removing a link that is not there changes nothing.
 */
export async function unlinkDomain(ctx: Ctx, link: Link): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    await checkLink(tx, ctx, link);
    await tx
      .delete(apiKeyDomains)
      .where(
        and(
          eq(apiKeyDomains.teamId, ctx.teamId),
          eq(apiKeyDomains.apiKeyId, link.keyId),
          eq(apiKeyDomains.domainId, link.domainId),
        ),
      );
  });
}

/** Both exist and are the team's, the caller has the domain, and the key is one that is linked to domains singly. */
async function checkLink(tx: Db, ctx: Ctx, { keyId, domainId }: Link): Promise<void> {
  const caller = await powerOfCaller(tx, ctx);
  const [key] = await tx.select({ allDomains: apiKeys.allDomains }).from(apiKeys).where(alive(ctx, keyId));
  if (!key) throw notFound("API key");
  const [domain] = await tx
    .select({ id: domains.id })
    .from(domains)
    .where(and(eq(domains.teamId, ctx.teamId), eq(domains.id, domainId)))
    // Held against being deleted, so that a link never points at nothing.
    .for("key share");
  if (!domain) throw notFound("Domain");
  if (caller && !caller.allDomains && !caller.domainIds.has(domainId)) throw lacksPower();
  if (key.allDomains)
    throw new AppError(
      "conflict",
      "This key sends from every domain of the team, those added later too. Make a key with domains of its own to choose.",
    );
}
