import { and, asc, eq } from "drizzle-orm";
import type { Db } from "#db/client";
import { isUniqueViolation } from "#db/faults";
import { memberships, savedFilters } from "#db/schema/teams";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/platform/errors";
import { isId, newId } from "#server/platform/ids";
import { SAVED_LISTS, type SavedList, savedFiltersMax } from "#server/shared/lists/saved-lists";
import { recordAudit } from "../audit/record";

const valueCharsMax = 320;

export type SavedFilter = {
  id: string;
  list: SavedList;
  name: string;
  /** The parameters of the page's URL. */
  filters: Record<string, string>;
};

/** The caller's saved filters in this team, for all lists, by name. */
export async function listSavedFilters(ctx: Ctx): Promise<SavedFilter[]> {
  const rows = await ctx.db
    .select({
      id: savedFilters.id,
      list: savedFilters.list,
      name: savedFilters.name,
      filters: savedFilters.filters,
    })
    .from(savedFilters)
    .where(isOwn(ctx))
    .orderBy(asc(savedFilters.name), asc(savedFilters.id));
  return rows.flatMap(({ list, ...row }) => (isSavedList(list) ? [{ ...row, list }] : []));
}

/**
 * Saves the filters of a list for the caller; `query` has them as in the URL of the page. AppError `invalid`
 * for a parameter that the list does not have, `conflict` if the name is in use or the caller has 20 for this
 * list.
 */
export async function saveFilter(
  ctx: Ctx,
  { list, name, query }: { list: SavedList; name: string; query: string },
): Promise<{ id: string }> {
  const filters = parseFilters(list, query);
  const userId = callerId(ctx);
  const id = newId();
  return rejectTakenName(name, () =>
    ctx.db.transaction(async (tx) => {
      await lockMembership(tx, ctx);
      const count = await tx.$count(savedFilters, and(isOwn(ctx), eq(savedFilters.list, list)));
      if (count >= savedFiltersMax)
        throw new AppError(
          "conflict",
          `You have ${savedFiltersMax} saved filters for this list, the maximum. Delete one first.`,
        );
      await tx.insert(savedFilters).values({ teamId: ctx.teamId, userId, id, list, name, filters });
      await recordAudit(tx, ctx, {
        action: "saved_filter.created",
        subject: { id, name },
        detail: { list },
      });
      return { id };
    }),
  );
}

/** Renames a saved filter of the caller. AppError `conflict` if the name is in use. */
export async function renameSavedFilter(ctx: Ctx, { id, name }: { id: string; name: string }): Promise<void> {
  await rejectTakenName(name, () =>
    ctx.db.transaction(async (tx) => {
      const before = await findSavedFilter(tx, ctx, id);
      await tx
        .update(savedFilters)
        .set({ name })
        .where(and(isOwn(ctx), eq(savedFilters.id, id)));
      await recordAudit(tx, ctx, {
        action: "saved_filter.renamed",
        subject: { id, name },
        detail: { name, name_before: before.name },
      });
    }),
  );
}

/** Deletes a saved filter of the caller. */
export async function deleteSavedFilter(ctx: Ctx, id: string): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    const { name, list } = await findSavedFilter(tx, ctx, id);
    await tx.delete(savedFilters).where(and(isOwn(ctx), eq(savedFilters.id, id)));
    await recordAudit(tx, ctx, { action: "saved_filter.deleted", subject: { id, name }, detail: { list } });
  });
}

const isSavedList = (list: string): list is SavedList => Object.hasOwn(SAVED_LISTS, list);

function callerId({ actor }: Ctx): string {
  if (actor.kind !== "user") throw new AppError("forbidden", "Only members have saved filters.");
  return actor.userId;
}

/** The tenant of a saved filter is the team and the member. */
const isOwn = (ctx: Ctx) => and(eq(savedFilters.teamId, ctx.teamId), eq(savedFilters.userId, callerId(ctx)));

/** Concurrent calls of one member wait for each other, so that the maximum holds. */
async function lockMembership(tx: Db, ctx: Ctx): Promise<void> {
  const [locked] = await tx
    .select({ userId: memberships.userId })
    .from(memberships)
    .where(and(eq(memberships.teamId, ctx.teamId), eq(memberships.userId, callerId(ctx))))
    .for("no key update");
  if (!locked) throw notFound("Team");
}

async function findSavedFilter(tx: Db, ctx: Ctx, id: string): Promise<{ name: string; list: string }> {
  const [row] = isId(id)
    ? await tx
        .select({ name: savedFilters.name, list: savedFilters.list })
        .from(savedFilters)
        .where(and(isOwn(ctx), eq(savedFilters.id, id)))
        .for("update")
    : [];
  if (!row) throw notFound("Saved filter");
  return row;
}

function parseFilters(list: SavedList, query: string): Record<string, string> {
  const known: readonly string[] = SAVED_LISTS[list];
  const filters = Object.fromEntries([...new URLSearchParams(query)].filter(([, value]) => value !== ""));
  for (const [name, value] of Object.entries(filters)) {
    if (!known.includes(name))
      throw new AppError(
        "invalid",
        `This list has no filter "${name}". Set filters in the page, then save them.`,
      );
    if (value.length > valueCharsMax)
      throw new AppError(
        "invalid",
        `The filter "${name}" has more than ${valueCharsMax} characters. Shorten it.`,
      );
  }
  if (Object.keys(filters).length === 0)
    throw new AppError("invalid", "No filter is set. Set at least one, then save it.");
  return filters;
}

async function rejectTakenName<T>(name: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (isUniqueViolation(error, "saved_filters_name_key"))
      throw new AppError("conflict", `You have a saved filter named "${name}". Choose another name.`);
    throw error;
  }
}
