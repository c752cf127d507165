import type { HotTransaction } from "../emails/status";
import { TEXT_OF } from "./address-pattern";
import type { Eraser } from "./mentions";

/** A larger file is not searched. */
const textBytesMax = 1024 * 1024;

/**
 * SQL: the file `f` is a text that is searched. Others are compressed or encoded, such as PDF and office
 * documents.
 */
export const IS_TEXT_FILE = (f: string): string => `(${f}.size_bytes <= ${textBytesMax}
  and ${f}.content_type ~* '^(text/|message/|application/(json|xml|yaml|csv|x-ndjson)|[a-z]+/[^;]+[+](json|xml))')`;

/**
 * The bytes of a text without the address; null if they do not contain it. Bytes that are not UTF-8 stay as
 * they are.
 */
export function eraseBytes(eraser: Eraser, content: Uint8Array): Uint8Array | null {
  const bytes = Buffer.from(content);
  const utf8 = bytes.toString("utf8");
  const encoding = Buffer.from(utf8, "utf8").equals(bytes) ? "utf8" : "latin1";
  const text = bytes.toString(encoding);
  const erased = eraser.eraseText(text);
  return erased === text ? null : Buffer.from(erased, encoding);
}

/**
 * How many files of these emails are not searched. A message that a program submitted with files counts as
 * one.
 */
export async function countUnsearchedFiles(
  tx: HotTransaction,
  teamId: string,
  emailIds: readonly string[],
): Promise<number> {
  const [row] = await tx.unsafe<{ count: number }[]>(
    `select (
       (select count(*) from attachments f where team_id = $1 and email_id = any($2::uuid[]) and not ${IS_TEXT_FILE("f")})
       + (select count(*) from email_bodies where team_id = $1 and email_id = any($2::uuid[]) and raw is not null
          and strpos(${TEXT_OF("raw")}, 'filename') > 0))::int as count`,
    [teamId, emailIds as string[]],
  );
  return row?.count ?? 0;
}
