import { z } from "zod";
import { SUPPRESSION_ORIGINS } from "#db/schema/suppressions";
import { addPasted } from "#server/services/suppressions/paste";
import type { Suppression } from "#server/services/suppressions/present";
import { listSuppressions } from "#server/services/suppressions/read";
import { removeSuppressions } from "#server/services/suppressions/remove";
import { readSources, type Source, searchSuppressions } from "#server/services/suppressions/search";
import { inTeam, router } from "./init";
import { strictInput } from "./strict";

const pageRows = 25;
/** About a thousand addresses; more of them come as a file. */
const pastedCharsMax = 50_000;
const atOnceMax = 100;

/** What narrows the list, and its file. */
export const SUPPRESSION_FILTER = {
  /** The first letters of an address, or all of it. */
  search: z.string().trim().max(320).optional(),
  origin: z.enum(SUPPRESSION_ORIGINS).optional(),
};
const ListInput = strictInput({
  ...SUPPRESSION_FILTER,
  after: z.uuid().optional(),
  before: z.uuid().optional(),
});
const AddInput = strictInput({ text: z.string().min(1).max(pastedCharsMax) });
const RemoveInput = strictInput({ ids: z.array(z.uuid()).min(1).max(atOnceMax) });

/** An entry as a line of the list. `emailId` is the mail that showed it, where that is still kept. */
function viewSuppression({ id, address, origin, listsOnly, createdAt }: Suppression, source?: Source) {
  return {
    id,
    address,
    origin,
    listsOnly,
    emailId: source?.emailId ?? null,
    reply: source?.reply ?? null,
    createdAt: createdAt.toISOString(),
  };
}
export type SuppressionRow = ReturnType<typeof viewSuppression>;

export const suppressionsRouter = router({
  list: inTeam("suppressions:read")
    .input(ListInput)
    .query(async ({ ctx: { service }, input: { search, origin, after, before } }) => {
      const query = {
        limit: pageRows,
        ...(origin && { origin }),
        ...(after && { after }),
        ...(before && { before }),
      };
      const { rows, hasMore } = search
        ? await searchSuppressions(service, { ...query, prefix: search })
        : await listSuppressions(service, query);
      const sources = await readSources(service, rows);
      return { rows: rows.map((row) => viewSuppression(row, sources.get(row.id))), hasMore };
    }),
  add: inTeam("suppressions:write")
    .input(AddInput)
    .mutation(async ({ ctx, input }) => addPasted(ctx.service, input.text)),
  /** Those that were there; what is not on the list is none of them. */
  remove: inTeam("suppressions:write")
    .input(RemoveInput)
    .mutation(async ({ ctx, input }) => {
      const removed = await removeSuppressions(
        ctx.service,
        input.ids.map((id) => ({ id })),
      );
      return { removed: removed.length };
    }),
});
