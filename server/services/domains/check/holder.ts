import { and, eq, ne, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { BUILT_IN_DOMAIN, domains } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { newId } from "#server/platform/ids";
import { recordAudit } from "../../audit/record";
import { announceDomain } from "../announce";
import { findDomain, isDomain } from "../read";

/** The domain of the team that has verified a name, while another team proves the same name. */
export type Holder = { id: string; teamId: string };

/** What one resolver returns for the records by which the holder proved the name. */
export type HolderAnswer = "gone" | "published" | "unknown";

/** The result of rechecking the holder. `published` lists the hosts that still have its records. */
export type HolderCheck = { holderId: string; answers: HolderAnswer[]; published: string[] };

/**
 * When the holder's records count as gone: if this many resolvers agree. With only one configured resolver:
 * if this many checks agree, the first at least `sinceMs` ago, because one wrong answer may be cached.
 */
const CONFIRMED = { resolvers: 2, checksOfOne: 2, sinceMs: 60 * 60_000 } as const;

// The holder is in another team, so it is found by name. The built-in name is excluded, as in the index.
const isHolder = (name: string, teamId: string) =>
  and(
    eq(domains.name, name),
    eq(domains.status, "verified"),
    ne(domains.name, BUILT_IN_DOMAIN),
    ne(domains.teamId, teamId),
  );

/** The domain in another team that has verified the name, or null. */
export async function findHolder(db: Db, ctx: Pick<Ctx, "teamId">, name: string): Promise<Holder | null> {
  const [found] = await db
    .select({ id: domains.id, teamId: domains.teamId })
    .from(domains)
    .where(isHolder(name, ctx.teamId));
  return found ?? null;
}

/**
 * Like `findHolder`, with the row locked until the transaction ends, and `reason`: why it remains the holder,
 * or null if it does not.
 */
export async function lockHolder(
  tx: Db,
  ctx: Ctx,
  name: string,
  check: HolderCheck | null,
): Promise<(Holder & { reason: string | null }) | null> {
  const [found] = await tx
    .select({
      id: domains.id,
      teamId: domains.teamId,
      isDeclared: sql<boolean>`${domains.declaredVerifiedAt} is not null`,
      failedChecks: domains.failedChecks,
      failingForMs: sql<number>`coalesce(extract(epoch from now() - ${domains.failingSince}) * 1000, 0)::float8`,
    })
    .from(domains)
    .where(isHolder(name, ctx.teamId))
    .for("update");
  if (!found) return null;
  const { id, teamId, ...state } = found;
  return { id, teamId, reason: whyHeld(state, check?.holderId === id ? check : null) };
}

type HolderState = { isDeclared: boolean; failedChecks: number; failingForMs: number };

const HELD = "Your records are correct, but another team of this installation has verified this domain.";

function whyHeld(holder: HolderState, check: HolderCheck | null): string | null {
  if (holder.isDeclared)
    return `${HELD} The operator verified it manually, regardless of DNS. Ask the operator to release it.`;
  const { answers = [], published = [] } = check ?? {};
  if (answers.includes("published"))
    return `${HELD} Its records are still published: at ${published.join(" and ")}, delete every TXT value that is not listed here. Then verify again.`;
  const gone = answers.filter((answer) => answer === "gone").length;
  if (gone >= CONFIRMED.resolvers) return null;
  const isOnlyOne = answers.length === 1 && gone === 1;
  if (!isOnlyOne)
    return `${HELD} Two DNS resolvers could not confirm that its records are gone. This is checked again automatically.`;
  if (holder.failedChecks >= CONFIRMED.checksOfOne && holder.failingForMs >= CONFIRMED.sinceMs) return null;
  return `${HELD} Its records are gone. Only one DNS resolver is configured, so a second check must confirm this an hour after the first. It runs automatically.`;
}

/**
 * Revokes the holder's verification: its records are gone, and another team has proved the name. Call it in
 * the transaction that verifies the other domain. The holder's team keeps the domain and its settings, but
 * cannot send from it.
 */
export async function releaseHolder(tx: Db, ctx: Ctx, holder: Holder): Promise<void> {
  // The log of this team must not contain data of the other team's call, including its request id.
  const { teamId } = holder;
  const holderCtx: Ctx = { ...ctx, db: tx, teamId, actor: { kind: "system" }, requestId: newId() };
  await tx.update(domains).set({ status: "failed", nextCheckAt: null }).where(isDomain(holder, holder.id));
  const lost = await findDomain(holderCtx, holder.id);
  await recordAudit(tx, holderCtx, {
    action: "domain.moved",
    subject: lost,
    detail: { reason: "Its records are gone from DNS, and another team has published its own." },
  });
  await announceDomain(holderCtx, "domain.updated", lost);
}
