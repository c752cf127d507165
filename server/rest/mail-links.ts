import { AppError } from "#server/errors";

/** What whoever follows a link that is no whole link of ours is told. Only a mail has the whole. */
export const incompleteLink = (): AppError =>
  new AppError("not_found", "This link is not complete. Follow it from the mail itself.");
