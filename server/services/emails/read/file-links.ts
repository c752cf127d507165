import mime from "mime";
import type { Deps } from "#server/deps";
import { AppError } from "#server/platform/errors";
import type { StoredFile } from "#server/shared/wire/attachment";
import { type FilePlace, findFile } from "./files";

/** The route that serves files by link. */
export const fileLinkPath = "/api/attachments/{token}";
const linkMs = 3_600_000;

/** A link that gives everyone who has it read access to one file, for an hour. */
export type FileLink = { url: string; expiresAt: Date };

/**
 * Team and email are signed together with the file, so the link never leads to another team's file or email.
 */
export function linkToFile({ links, clock }: Pick<Deps, "links" | "clock">, file: FilePlace): FileLink {
  const expiresAt = new Date(clock().getTime() + linkMs);
  return { url: links.make(fileLinkPath, [file.teamId, file.emailId, file.id], expiresAt), expiresAt };
}

/** The file behind a link. A forged link, an expired link and a deleted file get the same response. */
export async function openFileLink(
  deps: Pick<Deps, "db" | "links" | "clock">,
  token: string,
): Promise<StoredFile> {
  const [teamId, emailId, id] = deps.links.open(fileLinkPath, token, deps.clock()) ?? [];
  const file = teamId && emailId && id ? await findFile(deps, { teamId, emailId, id }) : null;
  if (file) return file;
  throw new AppError(
    "not_found",
    "This link is invalid or has expired; links are valid for one hour. Request the attachment again to get a new link.",
  );
}

/** The name under which a file is saved. */
export function fileNameOf({ filename, contentType }: StoredFile): string {
  if (filename) return filename;
  const extension = mime.getExtension(contentType);
  return extension ? `attachment.${extension}` : "attachment";
}
