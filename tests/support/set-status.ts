import type { HotSql } from "#db/client";

/** Puts emails and all their deliveries into this status. */
export async function setStatus(hot: HotSql, ids: string | string[], status: string): Promise<void> {
  const all = [ids].flat();
  await hot`update deliveries set status = ${status} where email_id = any(${all}::uuid[])`;
  await hot`update emails set status = ${status} where id = any(${all}::uuid[])`;
}
