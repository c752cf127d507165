import { forgetSystemMails } from "#db/system-mail-queue";
import { countUsage, findUncounted } from "#db/usage";
import type { WorkerDeps } from "#server/deps";

/** How long the record of a call is kept. */
export const callsKeptDays = 7;

const teamsAtOnce = 500;
const eventsAtOnce = 20_000;
const callsAtOnce = 10_000;
/** How long it is known what became of Posthorn's own mail. */
const systemMailsKeptDays = 7;
const systemMailsAtOnce = 1_000;

/**
 * What nobody waits for: counts events into the days of usage, before their mails may be forgotten, and forgets old calls of
 * the API and mail of Posthorn's own. In small steps, between which it stops when told to; what is left is done the next time.
 */
export async function keepBooks({ hot }: WorkerDeps, mayGoOn: () => boolean): Promise<void> {
  for (const teamId of await findUncounted(hot, teamsAtOnce)) {
    const count = () => countUsage(hot, teamId, { limit: eventsAtOnce, wait: false });
    while (mayGoOn() && (await count()) === eventsAtOnce);
  }
  const forget = async () => {
    const { count } = await hot`
      delete from api_requests where (team_id, id) in
        (select team_id, id from api_requests where created_at < now() - ${callsKeptDays} * interval '1 day'
         order by created_at limit ${callsAtOnce})`;
    return count;
  };
  while (mayGoOn() && (await forget()) === callsAtOnce);
  await forgetSystemMails(hot, systemMailsKeptDays, systemMailsAtOnce);
}
