import { z } from "zod";
import {
  deleteSavedFilter,
  listSavedFilters,
  renameSavedFilter,
  saveFilter,
} from "#server/services/saved-filters/saved-filters";
import { SAVED_LIST_NAMES, savedNameCharsMax } from "#server/shared/lists/saved-lists";
import { inTeam, router } from "../init";
import { strictInput, TeamInput } from "../strict";

const Name = z
  .string()
  .trim()
  .min(1, "Enter a name.")
  .max(savedNameCharsMax, `Enter a name of at most ${savedNameCharsMax} characters.`);
const id = z.string().max(60);

/** The caller's own filters. Each role that can read a list can save its filters. */
export const savedFiltersRouter = router({
  list: inTeam("team:read")
    .input(TeamInput)
    .query(({ ctx }) => listSavedFilters(ctx.service)),
  save: inTeam("team:read")
    .input(strictInput({ list: z.enum(SAVED_LIST_NAMES), name: Name, query: z.string().max(4_000) }))
    .mutation(({ ctx, input: { list, name, query } }) => saveFilter(ctx.service, { list, name, query })),
  rename: inTeam("team:read")
    .input(strictInput({ id, name: Name }))
    .mutation(({ ctx, input }) => renameSavedFilter(ctx.service, { id: input.id, name: input.name })),
  delete: inTeam("team:read")
    .input(strictInput({ id }))
    .mutation(({ ctx, input }) => deleteSavedFilter(ctx.service, input.id)),
});
