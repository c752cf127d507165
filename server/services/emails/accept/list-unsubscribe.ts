import type { Header } from "#db/schema/emails";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/platform/errors";

/**
 * Rejects an email that cannot offer one-click unsubscribe as RFC 8058 requires it: by one link of ours, over
 * https.
 */
export function checkListUnsubscribe(ctx: Ctx, headers: readonly Header[]): void {
  const own = headers.find(({ name }) => /^list-unsubscribe(-post)?$/i.test(name));
  if (own)
    throw new AppError(
      "invalid",
      `Invalid \`list_unsubscribe\`: the header ${own.name} is also set. Use only one of them.`,
    );
  const isSecure = ctx.recipientTokens.origin.startsWith("https://");
  if (!isSecure && ctx.transportKind !== "capture")
    throw new AppError(
      "invalid",
      "Invalid `list_unsubscribe`: the unsubscribe link requires https, and the public URL of this service does not use it. The operator must set BACKSTAMP_URL to an https URL.",
    );
}
