import { and, asc, count, desc, eq, isNull, ne, or, sql } from "drizzle-orm";
import { apiKeys } from "#db/schema/api-keys";
import { deliveries } from "#db/schema/deliveries";
import { BUILT_IN_DOMAIN, domains } from "#db/schema/domains";
import { emails } from "#db/schema/emails";
import { relays } from "#db/schema/relays";
import { webhooks } from "#db/schema/webhooks";
import { workers } from "#db/schema/workers";
import type { Ctx } from "#server/deps";

const shownMax = 50;
/** Deferred mails, the newest ones, that are looked at for what waits for `SMTP_URL`. */
const deferredMax = 100;

/** What the team's mail goes through, and what tells of it. */
export type Parts = {
  relays: {
    id: string;
    name: string;
    /** Everybody's, or the team's own. */
    isShared: boolean;
    /** While it is paused, when it is tried next. */
    pausedUntil: Date | null;
    lastFault: string | null;
    lastFaultAt: Date | null;
  }[];
  /** Recipients of the newest deferred mails who wait since `SMTP_URL` itself failed; null where there are none. */
  smtpUrl: { waiting: number; lastFault: string | null; lastFaultAt: Date } | null;
  /** Those in trouble first. */
  webhooks: {
    id: string;
    url: string;
    status: "enabled" | "disabled";
    disabledReason: "gone" | "failing" | null;
    failingSince: Date | null;
    failures: number;
  }[];
  /** When a worker last told that it lives, and what ways out those have that do. */
  worker: { seenAt: Date; transport: string } | null;
};

/** The relays that the team's mail may go by, its webhooks, and the worker that was seen last. */
export async function readParts(ctx: Ctx): Promise<Parts> {
  const [ways, smtpUrl, endpoints, [worker]] = await Promise.all([
    ctx.db
      .select({
        id: relays.id,
        name: relays.name,
        isShared: sql<boolean>`${relays.teamId} is null`,
        pausedUntil: relays.pausedUntil,
        lastFault: relays.lastFault,
        lastFaultAt: relays.lastFaultAt,
      })
      .from(relays)
      .where(or(isNull(relays.teamId), eq(relays.teamId, ctx.teamId)))
      .orderBy(asc(relays.position), asc(relays.name))
      .limit(shownMax),
    readSmtpUrl(ctx),
    ctx.db
      .select({
        id: webhooks.id,
        url: webhooks.url,
        status: webhooks.status,
        disabledReason: webhooks.disabledReason,
        failingSince: webhooks.failingSince,
        failures: webhooks.failures,
      })
      .from(webhooks)
      .where(eq(webhooks.teamId, ctx.teamId))
      .orderBy(
        desc(sql`${webhooks.status} = 'disabled' or ${webhooks.failingSince} is not null`),
        asc(webhooks.id),
      )
      .limit(shownMax),
    ctx.db
      .select({ seenAt: workers.beatAt, transport: workers.transport })
      .from(workers)
      .orderBy(desc(workers.beatAt))
      .limit(1),
  ]);
  return { relays: ways, smtpUrl, webhooks: endpoints, worker: worker ?? null };
}

/** Its faults are noted nowhere but at the mail that waits for it, of which a bounded number is looked at by index. */
async function readSmtpUrl(ctx: Ctx): Promise<Parts["smtpUrl"]> {
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
        // Where it could not be reached there was no reply, and the mail waits as it does for any other reason.
        or(
          eq(deliveries.waitRule, "transport_fault"),
          and(eq(deliveries.waitRule, "retry_schedule"), isNull(deliveries.lastCode)),
        ),
      ),
    )
    .orderBy(desc(deliveries.updatedAt))
    .limit(1);
  return found ?? null;
}

/** What there has to be before mail can go out into the world. */
export type Setup = { hasWayOut: boolean; verifiedDomain: string | null; hasKey: boolean };

/** How far the team is on its way to the first real mail. */
export async function readSetup(ctx: Ctx): Promise<Setup> {
  const [[verified], [keys], [ways]] = await Promise.all([
    ctx.db
      .select({ name: domains.name })
      .from(domains)
      .where(
        and(
          eq(domains.teamId, ctx.teamId),
          eq(domains.status, "verified"),
          ne(domains.name, BUILT_IN_DOMAIN),
        ),
      )
      .orderBy(asc(domains.createdAt))
      .limit(1),
    ctx.db
      .select({ count: count() })
      .from(apiKeys)
      .where(and(eq(apiKeys.teamId, ctx.teamId), isNull(apiKeys.revokedAt))),
    ctx.db
      .select({ count: count() })
      .from(relays)
      .where(or(isNull(relays.teamId), eq(relays.teamId, ctx.teamId))),
  ]);
  return {
    hasWayOut: ctx.transportKind !== "none" || (ways?.count ?? 0) > 0,
    verifiedDomain: verified?.name ?? null,
    hasKey: (keys?.count ?? 0) > 0,
  };
}
