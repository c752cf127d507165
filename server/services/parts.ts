import type { z } from "zod";
import { AppError } from "#server/platform/errors";

/** Where the next part of a command starts, as text that the caller of its parts only passes on. */
export const encodePlace = (place: object): string =>
  Buffer.from(JSON.stringify(place)).toString("base64url");

/** The place in such a text. AppError `invalid` with `message` if it is not one of this shape. */
export function parsePlace<Place>(shape: z.ZodType<Place>, text: string, message: string): Place {
  try {
    return shape.parse(JSON.parse(Buffer.from(text, "base64url").toString()));
  } catch (cause) {
    throw new AppError("invalid", message, { cause });
  }
}
