import { and, eq, exists, sql } from "drizzle-orm";
import { apiKeyDomains } from "#db/schema/api-keys";
import { BUILT_IN_DOMAIN, domains } from "#db/schema/domains";
import type { Ctx, SenderDomain } from "#server/deps";
import type { Mailbox } from "#server/mail/address/address";
import { AppError, rejectKey } from "#server/platform/errors";
import type { AcceptedRecipient } from "./insert-submissions";

/**
 * Checks that the caller may send from this domain: it must be linked to the key (an exact match, not a
 * parent domain), otherwise 403. A linked domain that cannot be used is 422. Every team can use the built-in
 * domain, so email from it never leaves the installation. Returns the domain; its tracking settings at
 * this moment apply to the email.
 */
export async function checkSender(
  ctx: Ctx,
  from: Mailbox,
  recipients: AcceptedRecipient[],
): Promise<SenderDomain> {
  const domain = await linkedDomain(ctx, from.domain);
  if (!domain) throw domainNotLinked(ctx, from.domain);
  if (!domain.verified)
    throw new AppError(
      "invalid",
      `${domain.name} is not verified yet. Publish its DNS records and verify it, or ask the operator to run: domain verify ${domain.name}`,
    );
  const outside = recipients.find((recipient) => recipient.domain !== BUILT_IN_DOMAIN);
  if (domain.name === BUILT_IN_DOMAIN && outside && ctx.transportKind !== "capture")
    throw new AppError(
      "invalid_sender",
      `Email from ${BUILT_IN_DOMAIN} can only be sent to ${BUILT_IN_DOMAIN}, not to ${outside.address}. Send from your own domain.`,
    );
  return domain;
}

/**
 * The same message for another team's domain as for one that does not exist: it must not reveal which domains
 * exist.
 */
function domainNotLinked({ actor }: Ctx, name: string): AppError {
  const isLimitedToDomains = actor.kind === "key" && !actor.allDomains;
  return rejectKey(
    "domain_not_linked",
    isLimitedToDomains
      ? `This key is not linked to ${name}. Link the domain to the key, or send from a domain that is linked.`
      : `${name} is not a domain of this team. Add and verify it first.`,
  );
}

/**
 * The sender's domain if the caller may use it. Before a rejection the database is read, because a change by
 * another process may not have reached this one yet: a domain that was just added or verified can be used
 * immediately.
 */
async function linkedDomain(ctx: Ctx, name: string): Promise<SenderDomain | undefined> {
  const { actor } = ctx;
  const known = actor.kind === "key" ? actor.domains.find((domain) => domain.name === name) : undefined;
  if (known?.verified) return known;
  const isLinked =
    actor.kind === "key" && !actor.allDomains
      ? exists(
          ctx.db
            .select({ one: sql`1` })
            .from(apiKeyDomains)
            .where(
              and(
                eq(apiKeyDomains.teamId, ctx.teamId),
                eq(apiKeyDomains.apiKeyId, actor.keyId),
                eq(apiKeyDomains.domainId, domains.id),
              ),
            ),
        )
      : undefined;
  const [row] = await ctx.db
    .select({
      id: domains.id,
      name: domains.name,
      status: domains.status,
      sending: domains.sending,
      openTracking: domains.openTracking,
      clickTracking: domains.clickTracking,
    })
    .from(domains)
    .where(and(eq(domains.teamId, ctx.teamId), eq(domains.name, name), isLinked));
  if (row && !row.sending)
    throw new AppError(
      "invalid_sender",
      `Sending from ${row.name} is disabled. Enable its capability \`sending\`.`,
    );
  if (!row) return undefined;
  const { status, sending: _, ...domain } = row;
  return { ...domain, verified: status === "verified" };
}
