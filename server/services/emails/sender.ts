import { and, eq } from "drizzle-orm";
import type { AcceptedRecipient } from "#db/accept";
import { BUILT_IN_DOMAIN, domains } from "#db/schema/domains";
import type { Ctx, SenderDomain } from "#server/deps";
import { AppError } from "#server/errors";
import type { Mailbox } from "#server/mail/address";

/**
 * Who may send in whose name: the domain of `from` must be linked to the key, exactly and not as a parent, else it is
 * the interface's 403; linked but not verified is 422. The built-in domain is everybody's, so what is sent from it
 * stays in the house.
 */
export async function checkSender(ctx: Ctx, from: Mailbox, recipients: AcceptedRecipient[]): Promise<void> {
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
      "invalid",
      `Mail from ${BUILT_IN_DOMAIN} goes only to ${BUILT_IN_DOMAIN}, not to ${outside.address}. Send from a domain of your own.`,
    );
}

async function linkedDomain(ctx: Ctx, name: string): Promise<SenderDomain | undefined> {
  if (ctx.actor.kind === "key") return ctx.actor.domains.find((domain) => domain.name === name);
  const [row] = await ctx.db
    .select({ id: domains.id, name: domains.name, status: domains.status })
    .from(domains)
    .where(and(eq(domains.teamId, ctx.teamId), eq(domains.name, name)));
  return row && { id: row.id, name: row.name, verified: row.status === "verified" };
}
