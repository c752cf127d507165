import { and, eq, exists, isNull, or, sql } from "drizzle-orm";
import { apiKeyDomains } from "#db/schema/api-keys";
import { BUILT_IN_DOMAIN, domains } from "#db/schema/domains";
import type { Header } from "#db/schema/emails";
import { relays } from "#db/schema/relays";
import type { Ctx } from "#server/deps";
import type { Mailbox } from "#server/mail/address/address";
import { isProviderControl } from "#server/mail/mime/headers";
import { AppError, rejectKey } from "#server/platform/errors";
import type { SenderDomain } from "../../keys/cache";
import { linksOfKey } from "../../keys/grant";
import { isRelayInUse } from "../../relays/read";
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
  const { actor } = ctx;
  const cached = actor.kind === "key" ? actor.domains.find(({ name }) => name === from.domain) : undefined;
  // Before a rejection the database is read, because a change by another process may not have reached this
  // one yet: a domain that was just added or verified can be used immediately.
  const domain = cached?.verified ? cached : await readLinkedDomain(ctx, from.domain);
  // The same message for another team's domain as for one that does not exist: it must not reveal which
  // exist.
  if (!domain) throw rejectKey("domain_not_linked", describeUnlinked(ctx, from.domain));
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

/** Names of domains that a rejection mentions: an SMTP reply has at most 512 bytes. */
const mentioned = { namesMax: 3, charsMax: 50 };

/** Why the caller cannot send from a domain, and what would work. */
function describeUnlinked({ actor }: Ctx, domain: string): string {
  if (actor.kind !== "key" || actor.allDomains)
    return `${domain} is not a domain of this team. Add it in the console under Domains, or by the API, and verify it. Until then, test with the sender hello@${BUILT_IN_DOMAIN} and the recipient delivered@${BUILT_IN_DOMAIN}.`;
  const usable = actor.domains.filter(({ verified, name }) => verified && name.length <= mentioned.charsMax);
  const names = usable.slice(0, mentioned.namesMax).map(({ name }) => name);
  const range =
    names.length > 0
      ? `It can send from ${names.join(", ")}${names.length < actor.domains.length ? " and others" : ""}`
      : "It can send from no domain";
  return `This key is not linked to ${domain}. ${range}. For another domain, add and verify it, then link it to this key in the console under API keys.`;
}

/** The sender's domain as stored, if the caller may use it. */
async function readLinkedDomain(ctx: Ctx, name: string): Promise<SenderDomain | undefined> {
  const { actor } = ctx;
  const isLinked =
    actor.kind === "key" && !actor.allDomains
      ? exists(
          ctx.db
            .select({ one: sql`1` })
            .from(apiKeyDomains)
            .where(and(linksOfKey(ctx, actor.keyId), eq(apiKeyDomains.domainId, domains.id))),
        )
      : undefined;
  const [row] = await ctx.db
    .select({
      id: domains.id,
      name: domains.name,
      verified: sql<boolean>`${domains.status} = 'verified'`,
      sending: domains.sending,
      openTracking: domains.openTracking,
      clickTracking: domains.clickTracking,
      trackingHost: domains.trackingHost,
    })
    .from(domains)
    .where(and(eq(domains.teamId, ctx.teamId), eq(domains.name, name), isLinked));
  if (row && !row.sending)
    throw new AppError(
      "invalid_sender",
      `Sending from ${row.name} is disabled. Enable its capability \`sending\`.`,
      { plain: `Sending from ${row.name} is disabled. Enable it in the settings of the domain.` },
    );
  return row;
}

/**
 * Rejects a field that controls the account of an email service, unless the email is sent by a relay of the
 * team's own: the account of the installation's relay sends the email of others, too.
 */
export async function checkProviderControl(
  ctx: Ctx,
  { id }: SenderDomain,
  names: readonly string[],
): Promise<void> {
  const name = names.find(isProviderControl);
  if (name === undefined) return;
  const [own] = await ctx.db
    .select({ one: sql`1` })
    .from(relays)
    .where(
      and(isRelayInUse, eq(relays.teamId, ctx.teamId), or(isNull(relays.domainId), eq(relays.domainId, id))),
    )
    .limit(1);
  if (!own)
    throw new AppError(
      "invalid",
      `The header ${name} cannot be set. It controls an account that this team shares with others. Add a relay of your own to set it.`,
    );
}

/**
 * Rejects an email that cannot offer one-click unsubscribe as RFC 8058 requires it: by one link of ours, over
 * https. `tag`: the tag in the content that asks for the link, if the request has no `list_unsubscribe`.
 */
export function checkListUnsubscribe(ctx: Ctx, headers: readonly Header[], tag: string | null): void {
  const cause =
    tag === null
      ? "Invalid `list_unsubscribe`"
      : `The content has the unsubscribe tag ${tag}, which \`"list_unsubscribe": false\` sends as text`;
  const own = headers.find(({ name }) => /^list-unsubscribe(-post)?$/i.test(name));
  if (own)
    throw new AppError("invalid", `${cause}: the header ${own.name} is also set. Use only one of them.`);
  const isSecure = ctx.recipientTokens.origin.startsWith("https://");
  if (!isSecure && ctx.transportKind !== "capture")
    throw new AppError(
      "invalid",
      `${cause}: the unsubscribe link requires https, and the public URL of this service does not use it. The operator must set BACKSTAMP_URL to an https URL.`,
    );
}
