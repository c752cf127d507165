import { and, asc, eq } from "drizzle-orm";
import type { Db } from "#db/client";
import { apiKeyDomains, apiKeys } from "#db/schema/api-keys";
import { domains } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { AppError, notFound, rejectKey } from "#server/platform/errors";
import { recordAudit } from "../audit/record";
import { coversDomain, isActiveKey, linksOfKey, permissionsOfCaller } from "./grant";
import { changeKeys, insertLinks } from "./keys";

const linkableMax = 1_000;

/**
 * Links a key to a domain, or unlinks it, effective immediately. A calling key may only change links to
 * domains that it is linked to itself; otherwise 403. Email that an unlinked key has queued from the domain
 * is no longer sent. A change that is already made changes nothing.
 */
export async function setLink(
  ctx: Ctx,
  { keyId, domainId }: { keyId: string; domainId: string },
  isLinked: boolean,
): Promise<void> {
  await changeKeys(ctx, async (tx) => {
    const caller = await permissionsOfCaller(tx, ctx);
    const [key] = await tx
      .select({ name: apiKeys.name, allDomains: apiKeys.allDomains })
      .from(apiKeys)
      .where(isActiveKey(ctx, keyId));
    if (!key) throw notFound("API key");
    const [domain] = await tx
      .select({ name: domains.name })
      .from(domains)
      .where(and(eq(domains.teamId, ctx.teamId), eq(domains.id, domainId)))
      // Locks the domain against deletion until the link is written.
      .for("key share");
    if (!domain) throw notFound("Domain");
    if (caller && !coversDomain(caller, domainId))
      throw rejectKey(
        "domain_not_linked",
        `The calling key is not linked to ${domain.name}. Use a key for all domains, or the console.`,
      );
    if (key.allDomains)
      throw new AppError(
        "conflict",
        "This key can send from all domains of the team, including domains added later. To limit domains, create a key with selected domains.",
      );
    const link = { teamId: ctx.teamId, apiKeyId: keyId, domainId };
    const changed = isLinked
      ? await tx.insert(apiKeyDomains).values(link).onConflictDoNothing().returning()
      : await tx
          .delete(apiKeyDomains)
          .where(and(linksOfKey(ctx, keyId), eq(apiKeyDomains.domainId, domainId)))
          .returning();
    if (changed.length === 0) return;
    const action = isLinked ? "key.linked" : "key.unlinked";
    const subject = { id: keyId, name: key.name };
    await recordAudit(tx, ctx, { action, subject, detail: { domain: domain.name } });
  });
}

/**
 * Links a new domain to the key that added it, in the same transaction. Does nothing for a key with access to
 * all domains, or if a member or the operator adds the domain.
 */
export async function linkToCaller(tx: Db, ctx: Ctx, domain: { id: string; name: string }): Promise<void> {
  const { actor } = ctx;
  const caller = await permissionsOfCaller(tx, ctx);
  if (actor.kind !== "key" || caller === null || caller.allDomains) return;
  await insertLinks(tx, ctx, actor.keyId, [domain]);
  await recordAudit(tx, ctx, {
    action: "key.linked",
    subject: { id: actor.keyId, name: caller.name },
    detail: { domain: domain.name },
  });
}

/** The team's domains by name, for the selection in a key form: the first `linkableMax`. */
export async function listLinkable(ctx: Ctx) {
  return ctx.db
    .select({ id: domains.id, name: domains.name, status: domains.status })
    .from(domains)
    .where(eq(domains.teamId, ctx.teamId))
    .orderBy(asc(domains.name))
    .limit(linkableMax);
}
