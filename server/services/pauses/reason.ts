import { AppError } from "#server/platform/errors";

/** Maximum length of a reason. */
export const reasonCharsMax = 500;

/** A reason on one line. 422 if it is empty or too long. */
export function parseReason(given: string): string {
  const reason = given.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  if (reason === "") throw new AppError("invalid", "Give a reason. It is shown with the email that waits.");
  if (reason.length > reasonCharsMax)
    throw new AppError(
      "invalid",
      `The reason has ${reason.length} characters. Use at most ${reasonCharsMax}.`,
    );
  return reason;
}
