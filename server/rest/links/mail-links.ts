import { AppError } from "#server/platform/errors";

/** The error for a link in an email that is truncated or was not created here. */
export const incompleteLink = (): AppError =>
  new AppError("not_found", "This link is incomplete. Open it from the email itself.");
