import { randomBytes } from "node:crypto";
import { sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { erasureKeys } from "#db/schema/audit";
import { parseMailbox } from "#server/mail/address/address";
import { AppError } from "#server/platform/errors";
import { foldAddress } from "#server/shared/text/fold-address";
import { erasedFormOf } from "../suppressions/erased";

const keyBytes = 32;

/** The address in lower case. AppError `invalid` if it is not one. */
export function parseErasedAddress(text: string): string {
  const read = parseMailbox(text);
  if (!read.ok) throw new AppError("invalid", read.fault);
  return foldAddress(read.mailbox.address);
}

/**
 * The address in lower case with its hash, which audit logs and receipts have instead. Creates the key of the
 * hashes if needed.
 */
export async function findErasedForm(
  { db, teamId }: { db: Db; teamId: string },
  address: string,
): Promise<{ folded: string; hash: string }> {
  const folded = parseErasedAddress(address);
  await db
    .insert(erasureKeys)
    .values({ key: randomBytes(keyBytes) })
    .onConflictDoNothing();
  const [row] = await db.execute<{ hash: string }>(sql`select ${erasedFormOf(teamId, folded)} as hash`);
  if (!row) throw new Error("the key of erased addresses is missing");
  return { folded, hash: row.hash };
}
