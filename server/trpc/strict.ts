import { z } from "zod";

/** The input of a team procedure: the team, these fields, and no others. */
export const strictInput = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject({ team: z.string().max(60), ...shape });

/** For procedures that need only the team. */
export const TeamInput = strictInput({});

/** For procedures that need only the caller. */
export const NoInput = z.strictObject({}).optional();
