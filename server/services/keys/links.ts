import { and, asc, eq } from "drizzle-orm";
import type { Db } from "#db/client";
import { apiKeyDomains, apiKeys } from "#db/schema/api-keys";
import { domains } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/errors";
import { recordAudit } from "../audit/record";
import { lacksPower, powerOfCaller } from "./grant";
import { alive } from "./keys";

const linkableMax = 1_000;

export type Link = { keyId: string; domainId: string };

/** Lets a key send from a domain, felt within a second. A key reaches only domains that it has itself: else 403. */
export async function linkDomain(ctx: Ctx, link: Link): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    const { keyName, domain } = await checkLink(tx, ctx, link);
    const added = await tx
      .insert(apiKeyDomains)
      .values({ teamId: ctx.teamId, apiKeyId: link.keyId, domainId: link.domainId })
      .onConflictDoNothing()
      .returning({ domainId: apiKeyDomains.domainId });
    if (added.length === 0) return;
    await recordAudit(tx, ctx, {
      action: "key.linked",
      subject: { id: link.keyId, name: keyName },
      detail: { domain },
    });
  });
}

/**
 * Ends a key's right to send from a domain, with the same reach. Mail that the key queued from it is not sent any more.
 * Removing a link that is not there changes nothing.
 */
export async function unlinkDomain(ctx: Ctx, link: Link): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    const { keyName, domain } = await checkLink(tx, ctx, link);
    const removed = await tx
      .delete(apiKeyDomains)
      .where(
        and(
          eq(apiKeyDomains.teamId, ctx.teamId),
          eq(apiKeyDomains.apiKeyId, link.keyId),
          eq(apiKeyDomains.domainId, link.domainId),
        ),
      )
      .returning({ domainId: apiKeyDomains.domainId });
    if (removed.length === 0) return;
    await recordAudit(tx, ctx, {
      action: "key.unlinked",
      subject: { id: link.keyId, name: keyName },
      detail: { domain },
    });
  });
}

/** The team's domains by name, for whoever chooses some for a key: the first `linkableMax` of them. */
export async function listLinkable(
  ctx: Ctx,
): Promise<{ id: string; name: string; status: (typeof domains.$inferSelect)["status"] }[]> {
  return ctx.db
    .select({ id: domains.id, name: domains.name, status: domains.status })
    .from(domains)
    .where(eq(domains.teamId, ctx.teamId))
    .orderBy(asc(domains.name))
    .limit(linkableMax);
}

/** Both exist and are the team's, the caller has the domain, and the key is one that is linked to domains singly. */
async function checkLink(tx: Db, ctx: Ctx, { keyId, domainId }: Link) {
  const caller = await powerOfCaller(tx, ctx);
  const [key] = await tx
    .select({ name: apiKeys.name, allDomains: apiKeys.allDomains })
    .from(apiKeys)
    .where(alive(ctx, keyId));
  if (!key) throw notFound("API key");
  const [domain] = await tx
    .select({ name: domains.name })
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
  return { keyName: key.name, domain: domain.name };
}
