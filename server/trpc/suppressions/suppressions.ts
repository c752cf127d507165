import type { inferRouterOutputs } from "@trpc/server";
import { z } from "zod";
import { SUPPRESSION_ORIGINS } from "#db/schema/suppressions";
import { listSuppressions } from "#server/services/suppressions/read";
import { getSources, searchSuppressions } from "#server/services/suppressions/search";
import { removeSuppressions } from "#server/services/suppressions/suppress";
import { addPastedSuppressions } from "#server/services/suppressions/transfer";
import { presentSuppression, type Suppression } from "#server/shared/wire/suppression";
import { CURSOR, inTeam, pageRows, router } from "../init";

/** About 1,000 addresses; larger lists are imported as a file. */
const pastedCharsMax = 50_000;
const atOnceMax = 100;

/** Filters of the list and its export. */
export const SUPPRESSION_FILTER = {
  /** The start of an address, or a complete address. */
  search: z.string().trim().max(320).optional(),
  origin: z.enum(SUPPRESSION_ORIGINS).optional(),
};
const ListInput = {
  ...SUPPRESSION_FILTER,
  ...CURSOR,
};
const AddInput = { text: z.string().min(1).max(pastedCharsMax) };
const RemoveInput = { ids: z.array(z.uuid()).min(1).max(atOnceMax) };

export const suppressionsRouter = router({
  list: inTeam("suppressions:read", ListInput).query(
    async ({ ctx: { service }, input: { search, origin, after, before } }) => {
      const query = { limit: pageRows, origin, after, before };
      const { rows, hasMore } = search
        ? await searchSuppressions(service, { ...query, prefix: search })
        : await listSuppressions(service, query);
      const sources = await getSources(service, rows);
      /** `source`: the reply of the email that caused the entry; null if that email is not retained. */
      const view = (row: Suppression) => ({
        ...presentSuppression(row),
        source: sources.get(row.id) ?? null,
      });
      return { rows: rows.map(view), hasMore };
    },
  ),
  add: inTeam("suppressions:write", AddInput).mutation(({ ctx, input }) =>
    addPastedSuppressions(ctx.service, input.text),
  ),
  /** Returns how many were removed; unknown ids are ignored. */
  remove: inTeam("suppressions:write", RemoveInput).mutation(async ({ ctx, input }) => {
    const removed = await removeSuppressions(
      ctx.service,
      input.ids.map((id) => ({ id })),
    );
    return { removed: removed.length };
  }),
});

export type SuppressionRow = inferRouterOutputs<typeof suppressionsRouter>["list"]["rows"][number];
