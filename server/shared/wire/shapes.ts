import { z } from "zod";

/** Schemas that the responses of all resources share. */

/** A UUID, version 7. */
export const Id = z.uuid();

/** ISO 8601 in UTC. */
export const Time = z.iso.datetime();

/** The response to a change. */
export const changed = <N extends string>(noun: N) => z.object({ object: z.literal(noun), id: Id });

/** The response to a deletion. */
export const deleted = <N extends string>(noun: N) =>
  z.object({ object: z.literal(noun), id: Id, deleted: z.literal(true) });

export const presentChanged = <N extends string>(object: N, { id }: { id: string }) => ({ object, id });

export const presentDeleted = <N extends string>(object: N, { id }: { id: string }) =>
  ({ object, id, deleted: true }) as const;

/** The list envelope. */
export const listOf = <T extends z.ZodType>(row: T) =>
  z.object({
    object: z.literal("list"),
    has_more: z.boolean().describe("Whether there are more rows after this page."),
    data: z.array(row),
  });
