import { z } from "zod";

/** The input of a procedure of a team: these fields beside the team, and no others. */
export const strictInput = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject({ team: z.string().max(60), ...shape });

/** Of one that needs to know the team alone. */
export const NoMore = strictInput({});

/** Of one that is about the caller alone. */
export const Nothing = z.strictObject({}).optional();
