import { and, eq, inArray, isNull, or, sql } from "drizzle-orm";
import { deliveries, type WaitRule } from "#db/schema/deliveries";
import { domains } from "#db/schema/domains";
import { emails } from "#db/schema/emails";
import { relays } from "#db/schema/relays";
import type { Ctx } from "#server/deps";
import { todayColumns } from "../../domains/caps";
import { isPausedRelay, isRelayInUse } from "../../relays/read";
import { getTeamRules } from "../../teams";

/** What delays an email at the moment, with the figures behind the wait rule. */
export type DelayCauses = Awaited<ReturnType<typeof listDelayCauses>>;

/** The exhausted daily cap: of a sender domain (`of`), or of the team (null). */
type Cap = { of: string | null; allowed: number; handedOver: number };

const CAP_RULES: readonly WaitRule[] = ["daily_cap", "warm_up", "team_daily_cap"];

/**
 * Reads the causes behind the wait rules of an email's recipients; empty if none of them waits for a cap or a
 * relay.
 */
export async function listDelayCauses(ctx: Ctx, emailId: string) {
  const waiting = await ctx.db
    .selectDistinct({ rule: deliveries.waitRule, domain: emails.senderDomain })
    .from(deliveries)
    .innerJoin(emails, and(eq(emails.teamId, deliveries.teamId), eq(emails.id, deliveries.emailId)))
    .where(
      and(
        eq(deliveries.teamId, ctx.teamId),
        eq(deliveries.emailId, emailId),
        eq(deliveries.status, "queued"),
        inArray(deliveries.waitRule, [...CAP_RULES, "relay_paused"]),
      ),
    );
  const rules = new Set(waiting.map(({ rule }) => rule));
  const domain = waiting[0]?.domain ?? "";
  const ofTeam = rules.has("team_daily_cap");
  const ofDomain = rules.has("daily_cap") || rules.has("warm_up");
  const [cap, paused] = await Promise.all([
    ofTeam ? getTeamCap(ctx) : ofDomain ? getDomainCap(ctx, domain) : null,
    rules.has("relay_paused") ? listPausedRelays(ctx, domain) : [],
  ]);
  return { cap, relays: paused };
}

async function getDomainCap(ctx: Ctx, name: string): Promise<Cap | null> {
  const [found] = await ctx.db
    .select({ allowed: todayColumns.allowedToday, handedOver: todayColumns.handedOverToday })
    .from(domains)
    .where(and(eq(domains.teamId, ctx.teamId), eq(domains.name, name)));
  if (!found || found.allowed === null) return null;
  return { of: name, allowed: found.allowed, handedOver: found.handedOver };
}

async function getTeamCap(ctx: Ctx): Promise<Cap | null> {
  const { dailyCap, handedOverToday } = await getTeamRules(ctx);
  return dailyCap === null ? null : { of: null, allowed: dailyCap, handedOver: handedOverToday };
}

/**
 * Paused relays of its route: with the next attempt and the last fault, or the operator's reason without an
 * attempt.
 */
const listPausedRelays = (ctx: Ctx, domain: string) =>
  ctx.db
    .select({
      name: relays.name,
      host: relays.host,
      nextTryAt:
        sql<Date | null>`case when ${relays.pauseReason} is null then ${relays.pausedUntil} end`.mapWith(
          relays.pausedUntil,
        ),
      fault: relays.lastFault,
      reason: relays.pauseReason,
    })
    .from(relays)
    .leftJoin(domains, eq(domains.id, relays.domainId))
    .where(
      and(
        isPausedRelay,
        isRelayInUse,
        or(
          isNull(relays.teamId),
          and(eq(relays.teamId, ctx.teamId), or(isNull(relays.domainId), eq(domains.name, domain))),
        ),
      ),
    )
    .orderBy(relays.position, relays.name);
