import { and, asc, count, desc, eq, isNull, ne, or, sql } from "drizzle-orm";
import { apiKeys } from "#db/schema/api-keys";
import { BUILT_IN_DOMAIN, domains } from "#db/schema/domains";
import { relays } from "#db/schema/relays";
import { webhooks } from "#db/schema/webhooks";
import { workers } from "#db/schema/workers";
import type { Ctx } from "#server/deps";

const shownMax = 50;

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
  const [ways, endpoints, [worker]] = await Promise.all([
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
      .orderBy(asc(webhooks.id))
      .limit(shownMax),
    ctx.db
      .select({ seenAt: workers.beatAt, transport: workers.transport })
      .from(workers)
      .orderBy(desc(workers.beatAt))
      .limit(1),
  ]);
  return { relays: ways, webhooks: endpoints, worker: worker ?? null };
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
