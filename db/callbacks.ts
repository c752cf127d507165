import type { HotSql } from "./client";
import type { RelayProvider } from "./schema/relays";

/** A relay as its provider's calls are heard for it. `secret` is sealed. */
export type HeardRelay = {
  id: string;
  teamId: string | null;
  provider: RelayProvider | null;
  secret: string | null;
  topic: string | null;
};

/** The relay with this id; null where there is none. */
export async function readHeardRelay(hot: HotSql, id: string): Promise<HeardRelay | null> {
  const [relay] = await hot<HeardRelay[]>`
    select id, team_id as "teamId", provider, callback_secret as secret, callback_topic as topic
    from relays where id = ${id}`;
  return relay ?? null;
}

export type Addressed = { id: string; address: string };

const addressedMax = 100;

/**
 * The deliveries that a relay's provider knows under an id: several where it took one message for them all. None of another
 * team's, where the relay is a team's own.
 */
export async function findByProviderId(
  hot: HotSql,
  { relay, providerId }: { relay: Pick<HeardRelay, "id" | "teamId">; providerId: string },
): Promise<Addressed[]> {
  return hot<Addressed[]>`
    select id, address from deliveries
    where relay_id = ${relay.id} and provider_id = ${providerId}
      and (${relay.teamId}::uuid is null or team_id = ${relay.teamId}::uuid)
    order by position limit ${addressedMax}`;
}

/** The deliveries of a young mail with this Message-ID that a relay was offered. Asks each team's mail for the id in it. */
export async function findByMessageIdOf(
  hot: HotSql,
  wanted: {
    relay: Pick<HeardRelay, "id" | "teamId">;
    messageId: string;
    emailId: string;
    daysMax: number;
  },
): Promise<Addressed[]> {
  const { relay, messageId, emailId, daysMax } = wanted;
  return hot<Addressed[]>`
    select d.id, d.address
    from teams t
    join emails e on e.team_id = t.id and e.id = ${emailId}
    join deliveries d on d.team_id = e.team_id and d.email_id = e.id
    where e.message_id = ${messageId} and e.created_at > now() - ${daysMax} * interval '1 day'
      and d.relay_id = ${relay.id} and (${relay.teamId}::uuid is null or t.id = ${relay.teamId}::uuid)
    order by d.position limit ${addressedMax}`;
}

const forgetBatch = 100;

/**
 * Takes note of what a token is used for, and forgets some that are too old to be believed. Tells whether it may be used
 * for that: it was not used before, or for the same. All of them are digests.
 */
export async function spendToken(
  hot: HotSql,
  {
    relayId,
    token,
    body,
    keptSeconds,
  }: { relayId: string; token: Buffer; body: Buffer; keptSeconds: number },
): Promise<boolean> {
  await hot`
    delete from callback_tokens where (relay_id, token) in
      (select relay_id, token from callback_tokens where expires_at < now() order by expires_at limit ${forgetBatch}
       for update skip locked)`;
  const [row] = await hot<{ mayUse: boolean }[]>`
    insert into callback_tokens as used (relay_id, token, body, expires_at)
    values (${relayId}, ${token}, ${body}, now() + ${keptSeconds} * interval '1 second')
    on conflict (relay_id, token) do update set body = used.body
    returning body = ${body} as "mayUse"`;
  return row?.mayUse ?? false;
}
