import { and, asc, desc, eq, getTableColumns, gt, lt, sql } from "drizzle-orm";
import mime from "mime";
import { attachments, emails } from "#db/schema/emails";
import type { Ctx, Deps } from "#server/deps";
import { AppError, notFound } from "#server/platform/errors";
import { isId } from "#server/platform/ids";
import { hourMs } from "#server/shared/durations";
import type { StoredFile } from "#server/shared/wire/attachment";
import { type Page, type PageQuery, pageOf, requireCursor } from "../../paging";

const { content, ...FILE } = getTableColumns(attachments);

/** Bytes read from the database at once; a file may be thirty times as large. */
const chunkBytes = 1024 * 1024;

/** The files of an email in the order of the email; `after` lists the files that follow the cursor. */
export async function listFiles(ctx: Ctx, emailId: string, query: PageQuery): Promise<Page<StoredFile>> {
  const [email] = await ctx.db
    .select({ id: emails.id })
    .from(emails)
    .where(and(eq(emails.teamId, ctx.teamId), eq(emails.id, emailId)));
  if (!email) throw notFound("Email");
  const ofEmail = and(eq(attachments.teamId, ctx.teamId), eq(attachments.emailId, emailId));
  await requireCursor(ctx, attachments, query, ofEmail);
  // All files were created together and their ids ascend in the order of the email, so the list begins with
  // the oldest id.
  return pageOf(query, (cursor, order, limit) =>
    ctx.db
      .select(FILE)
      .from(attachments)
      .where(
        and(
          ofEmail,
          cursor &&
            (cursor.direction === "older" ? gt(attachments.id, cursor.id) : lt(attachments.id, cursor.id)),
        ),
      )
      .orderBy(order === "newest" ? asc(attachments.id) : desc(attachments.id))
      .limit(limit),
  );
}

/** One file of one of the team's emails. */
export async function getFile(ctx: Ctx, emailId: string, id: string): Promise<StoredFile> {
  const file = await findFile(ctx, { teamId: ctx.teamId, emailId, id });
  if (!file) throw notFound("Attachment");
  return file;
}

/** Identifies a file. Check the caller's access before you use it. */
type FilePlace = Pick<StoredFile, "teamId" | "emailId" | "id">;

/** The file with this key, or null if it does not exist any longer. */
async function findFile({ db }: Pick<Deps, "db">, place: FilePlace): Promise<StoredFile | null> {
  if (!isId(place.emailId) || !isId(place.id)) return null;
  const [file] = await db.select(FILE).from(attachments).where(at(place));
  return file ?? null;
}

/**
 * The bytes of a file, in chunks as they are consumed: memory holds one chunk, and no connection waits for a
 * slow reader.
 */
export async function* readFile({ db }: Pick<Deps, "db">, file: StoredFile): AsyncGenerator<Uint8Array> {
  for (let from = 1; from <= file.sizeBytes; from += chunkBytes) {
    const [row] = await db
      .select({ chunk: sql<Buffer>`substring(${content} from ${from} for ${chunkBytes})` })
      .from(attachments)
      .where(at(file));
    // The aborted response shows the client that the file is incomplete.
    if (!row) throw new Error("the file was deleted while it was read");
    yield row.chunk;
  }
}

const at = ({ teamId, emailId, id }: FilePlace) =>
  and(eq(attachments.teamId, teamId), eq(attachments.emailId, emailId), eq(attachments.id, id));

/** The route that serves files by link. */
export const fileLinkPath = "/api/attachments/{token}";
const linkMs = hourMs;

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
