import { z } from "zod";

/** The shapes that answers of all nouns share. */

/** A UUID, version 7. */
export const Id = z.uuid();

/** ISO 8601 in UTC. */
export const Time = z.iso.datetime();

/** What a change is answered with. */
export const changed = <N extends string>(noun: N) => z.object({ object: z.literal(noun), id: Id });

/** What a deletion is answered with. */
export const deleted = <N extends string>(noun: N) =>
  z.object({ object: z.literal(noun), id: Id, deleted: z.literal(true) });

/** The list envelope. */
export const listOf = <T extends z.ZodType>(row: T) =>
  z.object({
    object: z.literal("list"),
    has_more: z.boolean().describe("Whether there are rows beyond this page."),
    data: z.array(row),
  });
