import { desc, eq, getTableColumns, sql } from "drizzle-orm";
import { isDatabaseUnreachable, isReferenceMissing } from "#db/faults";
import { erasures } from "#db/schema/audit";
import { teams } from "#db/schema/teams";
import type { Ctx, Deps } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { newId } from "#server/platform/ids";
import { errorFacts } from "#server/platform/log";
import { EXCEPTIONS } from "#server/shared/erasure-exceptions";
import { recordAudit } from "../audit/record";
import type { OperatorCtx } from "../pauses/scope";
import { erasedFormOf } from "../suppressions/erased";
import { findErasedForm, parseErasedAddress } from "./address";
import { UNSEARCHED } from "./emails";
import { suppressHash } from "./suppression";

const listMax = 100;

export type ErasureInput = {
  address: string;
  /** Nothing is sent to the address from the request on, even if it was not suppressed before. */
  suppresses: boolean;
};

const { address: _address, ...COLUMNS } = getTableColumns(erasures);

/** An erasure without the address, which it no longer has at its end. */
export type Erasure = Omit<typeof erasures.$inferSelect, "address">;

/**
 * Requests that the worker erases an address everywhere in the team. Returns the open erasure if there is
 * one. AppError `invalid` if it is not an address.
 */
export async function requestErasure(ctx: Ctx, { address, suppresses }: ErasureInput): Promise<Erasure> {
  const { teamId, actor, requestId } = ctx;
  const actorId = actor.kind === "user" ? actor.userId : actor.kind === "key" ? actor.keyId : null;
  const erasure = await ctx.db.transaction(async (tx) => {
    const { folded, hash } = await findErasedForm({ db: tx, teamId }, address);
    const [created] = await tx
      .insert(erasures)
      .values({
        teamId,
        id: newId(),
        address: folded,
        addressHash: hash,
        suppresses,
        actor: actor.kind,
        actorId,
        requestId,
      })
      .onConflictDoUpdate({
        target: [erasures.teamId, erasures.addressHash],
        targetWhere: sql`${erasures.status} <> 'done'`,
        set: { suppresses: sql`${erasures.suppresses} or excluded.suppresses` },
      })
      .returning(COLUMNS);
    if (!created) throw new AppError("conflict", "The erasure could not be recorded. Try again.");
    if (suppresses) await suppressHash(tx, { teamId, address: created.addressHash });
    await recordAudit(tx, ctx, {
      action: "address.erasure_requested",
      subject: { id: created.id, name: null },
      detail: { address_hash: created.addressHash, suppress: suppresses },
    });
    return created;
  });
  ctx.log.info("erasure.requested", { teamId, erasureId: erasure.id });
  return erasure;
}

/** A team in which an erasure could not be requested, and why. */
export type FailedRequest = { teamId: string; teamName: string; fault: string };

/**
 * The same in every team, for the operator. A fault in one team does not stop the others; teams that are
 * deleted meanwhile are left out. AppError `invalid` if it is not an address.
 */
export async function requestErasureInAllTeams(
  ctx: OperatorCtx,
  input: ErasureInput,
): Promise<{ requested: Erasure[]; failed: FailedRequest[] }> {
  parseErasedAddress(input.address);
  const all = await ctx.db.select({ id: teams.id, name: teams.name }).from(teams).orderBy(teams.id);
  const requested: Erasure[] = [];
  const failed: FailedRequest[] = [];
  for (const { id, name } of all)
    try {
      requested.push(await requestErasure({ ...ctx, teamId: id }, input));
    } catch (error) {
      if (isDatabaseUnreachable(error)) throw error;
      if (isReferenceMissing(error)) continue;
      const { kind, code } = errorFacts(error);
      failed.push({ teamId: id, teamName: name, fault: `${kind} ${code ?? ""}`.trim() });
      ctx.log.error("erasure.not_requested", { teamId: id, ...errorFacts(error) });
    }
  return { requested, failed };
}

/** The erasures of a team, newest first. */
export const listErasures = ({ db, teamId }: Pick<Ctx, "db" | "teamId">): Promise<Erasure[]> =>
  db
    .select(COLUMNS)
    .from(erasures)
    .where(eq(erasures.teamId, teamId))
    .orderBy(desc(erasures.id))
    .limit(listMax);

/** The erasures of one address in all teams, by its hash: the proof for a person who knows the address. */
export async function findErasures(
  { db }: Pick<Deps, "db">,
  address: string,
): Promise<(Erasure & { teamName: string })[]> {
  return db
    .select({ ...COLUMNS, teamName: teams.name })
    .from(teams)
    .innerJoin(
      erasures,
      sql`${erasures.teamId} = ${teams.id} and ${erasures.addressHash} = ${erasedFormOf(teams.id, parseErasedAddress(address))}`,
    )
    .orderBy(teams.id, desc(erasures.id));
}

/** An erasure for the console and the command line. Times in ISO 8601. */
export const presentErasure = (erasure: Erasure) => ({
  id: erasure.id,
  team_id: erasure.teamId,
  address_hash: erasure.addressHash,
  suppress: erasure.suppresses,
  status: erasure.status,
  /** Emails that wait for a result or for other recipients. */
  waiting: erasure.waiting,
  /** Idempotency keys that contain the address and have not expired. */
  waiting_keys: erasure.waitingKeys,
  /** Why the last step failed; null after a step that succeeded. */
  fault: erasure.fault,
  /** Changed rows by table. */
  counts: Object.fromEntries(Object.entries(erasure.counts).filter(([table]) => table !== UNSEARCHED)),
  /** Files of emails to others that were not searched: they are larger than 1 MB, or not a text. */
  files_not_searched: erasure.counts[UNSEARCHED] ?? 0,
  /** What an erasure does not change, and why. */
  not_erased: Object.values(EXCEPTIONS),
  requested_at: erasure.requestedAt.toISOString(),
  done_at: erasure.doneAt?.toISOString() ?? null,
});

export type ErasureView = ReturnType<typeof presentErasure>;
