import { and, eq, exists, sql } from "drizzle-orm";
import type { AcceptedRecipient } from "#db/accept";
import { apiKeyDomains } from "#db/schema/api-keys";
import { BUILT_IN_DOMAIN, domains } from "#db/schema/domains";
import type { Ctx, SenderDomain } from "#server/deps";
import { AppError } from "#server/errors";
import type { Mailbox } from "#server/mail/address";

/**
 * Who may send in whose name: the domain of `from` must be linked to the key, exactly and not as a parent, else it is
 * the interface's 403; linked but of no use for it is 422. The built-in domain is everybody's, so what is sent from it
 * stays in the house. Returns the domain, whose settings are the mail's from now on.
 */
export async function checkSender(
  ctx: Ctx,
  from: Mailbox,
  recipients: AcceptedRecipient[],
): Promise<SenderDomain> {
  const domain = await linkedDomain(ctx, from.domain);
  if (!domain) throw new AppError("forbidden", "Insufficient API key permissions");
  if (!domain.verified)
    throw new AppError(
      "invalid",
      `${domain.name} is not verified yet. Publish its DNS records and verify it, or let the operator run: domain verify ${domain.name}`,
    );
  const outside = recipients.find((recipient) => recipient.domain !== BUILT_IN_DOMAIN);
  if (domain.name === BUILT_IN_DOMAIN && outside && ctx.transportKind !== "capture")
    throw new AppError(
      "invalid_sender",
      `Mail from ${BUILT_IN_DOMAIN} goes only to ${BUILT_IN_DOMAIN}, not to ${outside.address}. Send from a domain of your own.`,
    );
  return domain;
}

/**
 * The sender's domain if it may be used. What a key's look-up knew may be half a second old, so a refusal is asked for
 * again: a domain that was just added or verified works at once.
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
      `Sending from ${row.name} is switched off. Enable its capability \`sending\`.`,
    );
  if (!row) return undefined;
  const { status, sending: _, ...domain } = row;
  return { ...domain, verified: status === "verified" };
}
