import { and, asc, desc, eq, gt, lt, sql } from "drizzle-orm";
import { attachments } from "#db/schema/attachments";
import { emails } from "#db/schema/emails";
import type { Ctx, Deps } from "#server/deps";
import { notFound } from "#server/errors";
import { isId } from "#server/ids";
import { type Page, type PageQuery, pageOf } from "../paging";

/** A file of a mail, without its bytes. */
export type StoredFile = Omit<typeof attachments.$inferSelect, "content">;

const FILE = {
  teamId: attachments.teamId,
  id: attachments.id,
  emailId: attachments.emailId,
  position: attachments.position,
  filename: attachments.filename,
  contentType: attachments.contentType,
  contentId: attachments.contentId,
  sizeBytes: attachments.sizeBytes,
};

/** What a database connection hands over at once of a file that may be thirty times as large. */
const chunkBytes = 1024 * 1024;

/** The files of a mail in its own order, for they were all made at once: `after` a file are those that stand behind it. */
export async function listFiles(ctx: Ctx, emailId: string, query: PageQuery): Promise<Page<StoredFile>> {
  const [email] = await ctx.db
    .select({ id: emails.id })
    .from(emails)
    .where(and(eq(emails.teamId, ctx.teamId), eq(emails.id, emailId)));
  if (!email) throw notFound("Email");
  const ofEmail = and(eq(attachments.teamId, ctx.teamId), eq(attachments.emailId, emailId));
  // Ids count upwards in the order of the mail, so the end that this list begins with is the oldest.
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

/** One file of a mail of the team's. */
export async function getFile(ctx: Ctx, emailId: string, id: string): Promise<StoredFile> {
  const file = await findFile(ctx, { teamId: ctx.teamId, emailId, id });
  if (!file) throw notFound("Attachment");
  return file;
}

/** Where a file lies. Whoever asks by it must know already that he may. */
export type FilePlace = Pick<StoredFile, "teamId" | "emailId" | "id">;

/** The file at a place, or null where there is none any more. */
export async function findFile({ db }: Pick<Deps, "db">, place: FilePlace): Promise<StoredFile | null> {
  if (!isId(place.emailId) || !isId(place.id)) return null;
  const [file] = await db.select(FILE).from(attachments).where(at(place));
  return file ?? null;
}

/** The bytes of a file, piece by piece as they are taken: memory holds one piece, and no connection waits for a slow reader. */
export async function* readFile({ db }: Pick<Deps, "db">, file: StoredFile): AsyncGenerator<Uint8Array> {
  for (let from = 1; from <= file.sizeBytes; from += chunkBytes) {
    const [row] = await db
      .select({ piece: sql<Buffer>`substring(${attachments.content} from ${from} for ${chunkBytes})` })
      .from(attachments)
      .where(at(file));
    // Breaking off tells the reader that what he has is not the whole.
    if (!row) throw new Error("the file was deleted while it was read");
    yield row.piece;
  }
}

const at = ({ teamId, emailId, id }: FilePlace) =>
  and(eq(attachments.teamId, teamId), eq(attachments.emailId, emailId), eq(attachments.id, id));
