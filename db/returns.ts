import type { HotSql } from "./client";
import { foldAddress } from "./fold-address";
import type { DeliveryStage, DeliveryStatus } from "./schema/deliveries";
import type { EventData, EventType } from "./schema/events";
import type { SuppressionOrigin } from "./schema/suppressions";
import { type HotTransaction, lockEmailsOf, refreshEmailStatus } from "./summary";

/** How a delivery stands when something comes back about it. */
export type Standing = {
  id: string;
  teamId: string;
  emailId: string;
  address: string;
  domain: string;
  status: DeliveryStatus;
  stage: DeliveryStage;
  attempts: number;
  /** An event of it already tells of this very report. */
  isRepeated: boolean;
};

/** What is to be written. With a status the claim of a worker that holds the row ends: what it records later is dropped. */
export type ReturnChange = {
  status: DeliveryStatus | null;
  reply: { code: number | null; enhanced: string | null; text: string } | null;
  host: string | null;
  reason: string;
  events: { id: string; type: EventType; data: EventData }[];
  suppression: { id: string; address: string; origin: SuppressionOrigin } | null;
};

/**
 * Locks a delivery with its mail, asks `decide` what a report on it changes, and commits that with its events, their
 * webhooks, the suppression and the summary of the mail; null changes nothing. Null comes back where there is no such
 * delivery. `decide` runs once in each try of the transaction and must do nothing but decide.
 */
export async function changeByReturn(
  hot: HotSql,
  { deliveryId, report }: { deliveryId: string; report: string },
  decide: (standing: Standing) => ReturnChange | null,
): Promise<Standing | null> {
  return hot.begin(async (tx) => {
    const parents = await lockEmailsOf(tx, [deliveryId]);
    const [standing] = await tx<Standing[]>`
      select d.id, d.team_id as "teamId", d.email_id as "emailId", d.address, d.domain, d.status, d.stage, d.attempts,
        exists (select from email_events e where e.team_id = d.team_id and e.email_id = d.email_id
                and e.delivery_id = d.id and e.data ->> 'report' = ${report}) as "isRepeated"
      from deliveries d where d.id = ${deliveryId} for no key update of d`;
    if (!standing) return null;
    const change = decide(standing);
    if (!change) return standing;
    if (change.status) await writeStatus(tx, standing, change);
    for (const { id, type, data } of change.events)
      await tx`
        insert into email_events (id, team_id, email_id, delivery_id, type, recipient, data)
        values (${id}, ${standing.teamId}, ${standing.emailId}, ${standing.id}, ${type}, ${standing.address},
                ${JSON.stringify(data)}::text::jsonb)`;
    if (change.suppression) await suppress(tx, standing, change.suppression);
    if (change.status) await refreshEmailStatus(tx, parents);
    return standing;
  });
}

async function writeStatus(
  tx: HotTransaction,
  { id }: Standing,
  { status, reply, host, reason }: ReturnChange,
): Promise<void> {
  await tx`
    update deliveries
    set status = ${status}, stage = 'idle', lease_token = null, leased_until = null, wait_rule = null, due_at = now(),
        last_reason = ${reason}, updated_at = now()
    where id = ${id}`;
  if (!reply) return;
  await tx`
    update deliveries
    set last_code = ${reply.code}, last_enhanced = ${reply.enhanced}, last_text = ${reply.text}, last_host = ${host}
    where id = ${id}`;
}

/** A complaint weighs more than a bounce, and both more than a wish to get no lists; what a person wrote down stays. */
async function suppress(
  tx: HotTransaction,
  { teamId, emailId }: Standing,
  { id, address, origin }: NonNullable<ReturnChange["suppression"]>,
): Promise<void> {
  const [before] = await tx<{ listsOnly: boolean }[]>`
    select lists_only as "listsOnly" from suppressions where team_id = ${teamId} and address = ${address} for update`;
  await tx`
    with entered as (
      insert into suppressions (team_id, id, address, origin, source_email_id)
      values (${teamId}, ${id}, ${address}, ${origin}, ${emailId})
      on conflict (team_id, address) do update
        set origin = excluded.origin, source_email_id = excluded.source_email_id, lists_only = false
        where suppressions.lists_only or (suppressions.origin = 'bounce' and excluded.origin = 'complaint')
      returning *
    )
    insert into webhook_deliveries (id, team_id, webhook_id, type, payload)
    select uuid_v7(), s.team_id, w.id, 'suppression.added', json_build_object(
      'type', 'suppression.added', 'created_at', s.created, 'data', json_build_object(
        'id', s.id, 'email', s.address, 'origin', s.origin, 'source_id', s.source_email_id, 'created_at', s.created))
    from (select *, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created from entered) s
    join webhooks w on w.team_id = s.team_id and w.status = 'enabled' and 'suppression.added' = any(w.events)
    where ${before === undefined || before.listsOnly}
    for key share of w`;
}

/** The delivery of a mail to an address, in any letter case; null where there is none. */
export async function findDeliveryTo(
  hot: HotSql,
  { teamId, emailId, address }: { teamId: string; emailId: string; address: string },
): Promise<string | null> {
  const rows = await hot<Addressed[]>`
    select id, address from deliveries where team_id = ${teamId} and email_id = ${emailId} order by position`;
  return firstTo(rows, [address]);
}

/**
 * The same for a mail that is known by its Message-ID alone, whosever it is, and to the first of several addresses; not where it
 * is older than so many days. Asks each team's mail for the id in it, as no index leads to one without a team.
 */
export async function findRecentDelivery(
  hot: HotSql,
  wanted: { messageId: string; emailId: string; addresses: readonly string[]; daysMax: number },
): Promise<string | null> {
  const rows = await hot<Addressed[]>`
    select d.id, d.address
    from teams t
    join emails e on e.team_id = t.id and e.id = ${wanted.emailId}
    join deliveries d on d.team_id = e.team_id and d.email_id = e.id
    where e.message_id = ${wanted.messageId} and e.created_at > now() - ${wanted.daysMax} * interval '1 day'
    order by d.position`;
  return firstTo(rows, wanted.addresses);
}

type Addressed = { id: string; address: string };

function firstTo(rows: readonly Addressed[], addresses: readonly string[]): string | null {
  const wanted = new Set(addresses.map(foldAddress));
  return rows.find(({ address }) => wanted.has(foldAddress(address)))?.id ?? null;
}

/** To whom a delivery goes; null where there is none with this id. */
export async function addressOfDelivery(hot: HotSql, id: string): Promise<string | null> {
  const [row] = await hot<{ address: string }[]>`select address from deliveries where id = ${id}`;
  return row?.address ?? null;
}
