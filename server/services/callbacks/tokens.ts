import type { HotSql } from "#db/client";
import type { RelayProvider } from "#db/schema/relays";

/** A relay with its settings for callbacks. `secret` is sealed. */
export type CallbackRelay = {
  id: string;
  teamId: string | null;
  provider: RelayProvider | null;
  secret: string | null;
  topic: string | null;
};

/** The relay with this id, or null. */
export async function readCallbackRelay(hot: HotSql, id: string): Promise<CallbackRelay | null> {
  const [relay] = await hot<CallbackRelay[]>`
    select id, team_id as "teamId", provider, callback_secret as secret, callback_topic as topic
    from relays where id = ${id}`;
  return relay ?? null;
}

export type Addressed = { id: string; address: string };

const addressedMax = 100;

/**
 * The deliveries that a relay's provider identifies by an id: several if it accepted one message for all of
 * them. If the relay belongs to a team, only deliveries of that team.
 */
export async function findByProviderId(
  hot: HotSql,
  { relay, providerId }: { relay: Pick<CallbackRelay, "id" | "teamId">; providerId: string },
): Promise<Addressed[]> {
  return hot<Addressed[]>`
    select id, address from deliveries
    where relay_id = ${relay.id} and provider_id = ${providerId}
      and (${relay.teamId}::uuid is null or team_id = ${relay.teamId}::uuid)
    order by position limit ${addressedMax}`;
}

/**
 * The deliveries of a recent email with this Message-ID that were attempted through a relay. Looks the id up
 * in each team.
 */
export async function findByMessageIdOf(
  hot: HotSql,
  wanted: {
    relay: Pick<CallbackRelay, "id" | "teamId">;
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

const deleteBatch = 100;

/**
 * Records which body a token was used for, and deletes some expired tokens. Returns whether the token may be
 * used for this body: it is new, or was used for the same body. `token` and `body` are digests.
 */
export async function consumeToken(
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
      (select relay_id, token from callback_tokens where expires_at < now() order by expires_at limit ${deleteBatch}
       for update skip locked)`;
  const [row] = await hot<{ mayUse: boolean }[]>`
    insert into callback_tokens as used (relay_id, token, body, expires_at)
    values (${relayId}, ${token}, ${body}, now() + ${keptSeconds} * interval '1 second')
    on conflict (relay_id, token) do update set body = used.body
    returning body = ${body} as "mayUse"`;
  return row?.mayUse ?? false;
}
