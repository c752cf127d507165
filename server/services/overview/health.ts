import { and, asc, desc, eq, inArray, isNull, ne, or, sql } from "drizzle-orm";
import { apiKeys } from "#db/schema/api-keys";
import { deliveries, workers } from "#db/schema/deliveries";
import { BUILT_IN_DOMAIN, domains } from "#db/schema/domains";
import { emails } from "#db/schema/emails";
import { recipientTotals as totals } from "#db/schema/events";
import { relays } from "#db/schema/relays";
import { webhooks } from "#db/schema/webhooks";
import type { Ctx } from "#server/deps";
import { isRelayInUse } from "../relays/read";

const listMax = 50;
/** Number of newest deferred emails that are checked for recipients who wait for `SMTP_URL`. */
const deferredMax = 100;

/** The health of the parts that the team's emails depend on. */
export type Parts = Awaited<ReturnType<typeof getParts>>;

const RELAY = {
  id: relays.id,
  name: relays.name,
  /** Shared by all teams; false: the team's own. */
  isShared: sql<boolean>`${relays.teamId} is null`,
  /** Next attempt while the relay is paused. */
  pausedUntil: relays.pausedUntil,
  /** The operator's reason while the operator has paused it. */
  pauseReason: relays.pauseReason,
  failures: relays.failures,
  lastFault: relays.lastFault,
  lastFaultAt: relays.lastFaultAt,
};

const { id, url, status, disabledReason, failingSince, failures } = webhooks;

/**
 * The relays available to the team, its webhooks (failing ones first), and the worker with the latest
 * heartbeat.
 */
export async function getParts(ctx: Ctx) {
  const [usable, smtpUrl, endpoints, [worker]] = await Promise.all([
    ctx.db
      .select(RELAY)
      .from(relays)
      .where(or(isNull(relays.teamId), eq(relays.teamId, ctx.teamId)))
      .orderBy(asc(relays.position), asc(relays.name))
      .limit(listMax),
    readSmtpUrl(ctx),
    ctx.db
      .select({ id, url, status, disabledReason, failingSince, failures })
      .from(webhooks)
      .where(eq(webhooks.teamId, ctx.teamId))
      .orderBy(desc(sql`${status} = 'disabled' or ${failingSince} is not null`), asc(id))
      .limit(listMax),
    ctx.db
      .select({ seenAt: workers.beatAt, transport: workers.transport })
      .from(workers)
      .orderBy(desc(workers.beatAt))
      .limit(1),
  ]);
  return { relays: usable, smtpUrl, webhooks: endpoints, worker: worker ?? null };
}

/**
 * The recipients of the newest deferred emails that wait because `SMTP_URL` failed; null if there are none.
 * Its faults are recorded only on the deliveries that wait for it. A bounded number of them is read by index.
 */
async function readSmtpUrl(ctx: Ctx) {
  if (ctx.transportKind !== "relay") return null;
  const deferred = ctx.db
    .select({ id: emails.id })
    .from(emails)
    .where(and(eq(emails.teamId, ctx.teamId), eq(emails.status, "deferred")))
    .orderBy(desc(emails.id))
    .limit(deferredMax)
    .as("deferred");
  const [found] = await ctx.db
    .select({
      waiting: sql<number>`count(*) over ()::int`,
      lastFault: deliveries.lastReason,
      lastFaultAt: deliveries.updatedAt,
    })
    .from(deferred)
    .innerJoin(deliveries, and(eq(deliveries.teamId, ctx.teamId), eq(deliveries.emailId, deferred.id)))
    .where(
      and(
        eq(deliveries.status, "queued"),
        isNull(deliveries.relayId),
        ne(deliveries.domain, BUILT_IN_DOMAIN),
        // If it could not be reached, there was no reply, and the delivery waits like any other one.
        or(
          inArray(deliveries.waitRule, ["relay_paused", "transport_fault"]),
          and(eq(deliveries.waitRule, "retry_schedule"), isNull(deliveries.lastCode)),
        ),
      ),
    )
    .orderBy(desc(deliveries.updatedAt))
    .limit(1);
  return found ?? null;
}

/** The prerequisites for sending real emails, and whether the team has sent one from its own domain. */
type Setup = {
  /** The team has an email, from any sender. */
  hasTest: boolean;
  /** Email to real recipients does not stay queued: it is sent, or captured. */
  hasTransport: boolean;
  isCapturing: boolean;
  verifiedDomain: string | null;
  hasKey: boolean;
  hasSent: boolean;
};

/**
 * The team's progress towards its first real email. The overview updates the counts itself.
 */
export async function getSetup({ db, teamId, transportKind }: Ctx): Promise<Setup> {
  const [found] = await db.execute<Setup>(sql`
    select exists (select from ${emails} where ${emails.teamId} = ${teamId}) as "hasTest",
      ${transportKind === "capture"} as "isCapturing",
      ${transportKind !== "none"} or exists (
        select from ${relays}
        where ${isRelayInUse} and (${relays.teamId} is null or ${relays.teamId} = ${teamId})) as "hasTransport",
      (select ${domains.name} from ${domains}
       where ${domains.teamId} = ${teamId} and ${domains.status} = 'verified' and ${domains.name} <> ${BUILT_IN_DOMAIN}
       order by ${domains.createdAt} limit 1) as "verifiedDomain",
      exists (
        select from ${apiKeys} where ${apiKeys.teamId} = ${teamId} and ${apiKeys.revokedAt} is null) as "hasKey",
      exists (
        select from ${totals} where ${totals.teamId} = ${teamId} and ${totals.dimension} = 'domain'
          and ${totals.unit} = 'day' and ${totals.value} <> ${BUILT_IN_DOMAIN}
          and ${totals.sent} + ${totals.delivered} > 0) as "hasSent"`);
  if (!found) throw new TypeError("a select without from returned no row");
  return found;
}
