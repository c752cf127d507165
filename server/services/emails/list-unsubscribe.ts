import type { Header } from "#db/schema/emails";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/errors";

/** Refuses what could not offer to unsubscribe the way RFC 8058 asks for: by one link of ours, over https. */
export function checkUnsubscribe(ctx: Ctx, headers: readonly Header[]): void {
  const own = headers.find(({ name }) => /^list-unsubscribe(-post)?$/i.test(name));
  if (own)
    throw new AppError(
      "invalid",
      `Invalid \`list_unsubscribe\`: the header ${own.name} is given as well. Use one of both.`,
    );
  const isSecure = ctx.recipientTokens.origin.startsWith("https://");
  if (!isSecure && ctx.transportKind !== "capture")
    throw new AppError(
      "invalid",
      "Invalid `list_unsubscribe`: the link must begin with https, and the public address of this service does not. The operator sets POSTHORN_URL.",
    );
}
