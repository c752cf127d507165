import { z } from "zod";

const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * The input of a procedure of a team: these fields beside the team, and no others. No text in it holds what the database
 * cannot keep.
 */
export const strictInput = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject({ team: z.string().max(60), ...shape }).superRefine((input, refine) => {
    for (const { path, text } of textsIn(input, [])) {
      const message = text.includes("\0")
        ? "must not hold NUL"
        : LONE_SURROGATE.test(text)
          ? "must not hold half of a surrogate pair"
          : null;
      if (message) refine.addIssue({ code: "custom", path, message });
    }
  });

type Place = { path: PropertyKey[]; text: string };

/** Every text and every name of a field. Inputs are a few levels deep: their schemas were satisfied already. */
function* textsIn(value: unknown, path: PropertyKey[]): Generator<Place> {
  if (typeof value === "string") yield { path, text: value };
  else if (typeof value === "object" && value !== null)
    for (const [key, item] of Object.entries(value)) {
      yield { path, text: key };
      yield* textsIn(item, [...path, Array.isArray(value) ? Number(key) : key]);
    }
}
