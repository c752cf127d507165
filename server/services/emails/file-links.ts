import mime from "mime";
import type { Deps } from "#server/deps";
import { AppError } from "#server/errors";
import { type FilePlace, findFile, type StoredFile } from "./files";

/** The route that serves files by link. */
export const fileLinkPath = "/api/attachments/{token}";
const linkMs = 3_600_000;

/** A link by which anybody can read one file for an hour. */
export type FileLink = { url: string; expiresAt: Date };

/** Team and mail are signed with the file, so that a link leads to no other place if a row ever changed its own. */
export function linkToFile({ links, clock }: Pick<Deps, "links" | "clock">, file: FilePlace): FileLink {
  const expiresAt = new Date(clock().getTime() + linkMs);
  return { url: links.make(fileLinkPath, [file.teamId, file.emailId, file.id], expiresAt), expiresAt };
}

/** The file behind a link. Links that are forged, that expired, or whose file is gone are all answered alike. */
export async function openFileLink(
  deps: Pick<Deps, "db" | "links" | "clock">,
  token: string,
): Promise<StoredFile> {
  const [teamId, emailId, id] = deps.links.open(fileLinkPath, token, deps.clock()) ?? [];
  const file = teamId && emailId && id ? await findFile(deps, { teamId, emailId, id }) : null;
  if (file) return file;
  throw new AppError(
    "not_found",
    "This link does not lead to a file, or not any more: links hold for an hour. Ask for the attachment again to get a new one.",
  );
}

/** What a file is called that is kept outside its mail. */
export function nameOfFile({ filename, contentType }: StoredFile): string {
  if (filename) return filename;
  const extension = mime.getExtension(contentType);
  return extension ? `attachment.${extension}` : "attachment";
}
