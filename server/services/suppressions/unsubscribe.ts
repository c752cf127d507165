import { sql } from "drizzle-orm";
import { foldAddress } from "#db/fold-address";
import type { Deps } from "#server/deps";
import { newId } from "#server/ids";
import type { Subscriber } from "#server/recipient-tokens";
import { announce } from "../webhooks/announce";
import { suppressionJson } from "./present";

/**
 * Takes an address off what offers to unsubscribe: from now on the team's mail of that kind is not sent to it, and all other
 * mail is. Done twice, or for an address that is on the list already, it changes nothing.
 */
export async function unsubscribe(
  deps: Pick<Deps, "db" | "clock" | "log" | "wake">,
  { teamId, emailId, address }: Subscriber,
): Promise<void> {
  const isNew = await deps.db.transaction(async (tx) => {
    const [row] = await tx.execute<{ id: string; address: string; created_ms: number }>(sql`
      insert into suppressions (team_id, id, address, origin, source_email_id, lists_only)
      select id, ${newId()}::uuid, ${foldAddress(address)}, 'manual', ${emailId}::uuid, true from teams where id = ${teamId}
      on conflict (team_id, address) do nothing
      returning id, address, (extract(epoch from created_at) * 1000)::float8 as created_ms`);
    if (!row) return false;
    const added = {
      id: row.id,
      address: row.address,
      origin: "manual",
      sourceEmailId: emailId,
      listsOnly: true,
      createdAt: new Date(row.created_ms),
    } as const;
    await announce({ db: tx, teamId, clock: deps.clock }, "suppression.added", suppressionJson(added));
    return true;
  });
  if (!isNew) return;
  deps.log.info("suppression.unsubscribed", { teamId, emailId });
  deps.wake();
}
