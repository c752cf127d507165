import type { z } from "zod";
import { AppError } from "#server/platform/errors";

/** Where the next part of a command starts, as text that the caller of its parts only passes on. */
export const encodePosition = (position: object): string =>
  Buffer.from(JSON.stringify(position)).toString("base64url");

/**
 * The position in such a text, `start` without one. AppError `invalid` with `message` if it is not one of
 * this shape.
 */
export function parsePosition<Position, Start>(
  shape: z.ZodType<Position>,
  text: string | null,
  { start, message }: { start: Start; message: string },
): Position | Start {
  if (text === null) return start;
  try {
    return shape.parse(JSON.parse(Buffer.from(text, "base64url").toString()));
  } catch (cause) {
    throw new AppError("invalid", message, { cause });
  }
}
