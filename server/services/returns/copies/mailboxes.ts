import { eq } from "drizzle-orm";
import { BUILT_IN_DOMAIN } from "#db/schema/domains";
import { teams } from "#db/schema/teams";
import type { Ctx, Deps } from "#server/deps";
import { parseMailbox } from "#server/mail/address/address";
import { invalidField, notFound } from "#server/platform/errors";
import { foldAddress } from "#server/shared/text/fold-address";
import { findDomain } from "../../domains/read";
import { receivesBounces } from "../../domains/return-path";
import { updateDomain } from "../../domains/write";
import { findSystemEmailFault } from "../../system-mail/queue";
import { type CopyMailboxes, updateTeam } from "../../teams";
import { isOurs } from "../find";

/** The mailboxes of a team, or of a domain, with what prevents copies to them now. */
export type CopySettings = CopyMailboxes & {
  /** A domain has the mailboxes of its team. */
  isOfTeam: boolean;
  /** Sentences that say what to do. */
  faults: string[];
};

/** The mailboxes of the team (null), or those that one of its domains has. */
export async function getCopies(ctx: Ctx, domainId: string | null): Promise<CopySettings> {
  const domain = domainId === null ? null : await findDomain(ctx, domainId);
  if (domain && domain.bounceCopiesTo !== null) {
    const own = {
      bounceCopiesTo: domain.bounceCopiesTo || null,
      replyCopiesTo: domain.replyCopiesTo || null,
    };
    return { ...own, isOfTeam: false, faults: await listFaults(ctx, own) };
  }
  const [team] = await ctx.db
    .select({ bounceCopiesTo: teams.bounceCopiesTo, replyCopiesTo: teams.replyCopiesTo })
    .from(teams)
    .where(eq(teams.id, ctx.teamId));
  if (!team) throw notFound("Team");
  return { ...team, isOfTeam: true, faults: await listFaults(ctx, team) };
}

/**
 * Sets the mailboxes of the team (null), or of one of its domains. `wanted` null: a domain has those of the
 * team, a team has none. AppError `invalid` for an address that is neither at a verified domain of the team
 * nor the verified address of a member: what returns to the team is not for others.
 */
export async function setCopies(
  ctx: Ctx,
  domainId: string | null,
  wanted: CopyMailboxes | null,
): Promise<void> {
  const checked = wanted && (await checkMailboxes(ctx, wanted));
  if (domainId === null)
    return updateTeam(ctx, { copies: checked ?? { bounceCopiesTo: null, replyCopiesTo: null } });
  await updateDomain(ctx, domainId, {
    bounceCopiesTo: checked && (checked.bounceCopiesTo ?? ""),
    replyCopiesTo: checked && (checked.replyCopiesTo ?? ""),
  });
}

async function checkMailboxes(ctx: Ctx, wanted: CopyMailboxes): Promise<CopyMailboxes> {
  const check = async (field: keyof CopyMailboxes) => {
    const text = wanted[field];
    if (text === null) return null;
    const read = parseMailbox(text);
    if (!read.ok) throw invalidField(field, read.fault);
    const fault = await findMailboxFault(ctx, ctx.teamId, read.mailbox.address);
    if (fault !== null) throw invalidField(field, fault);
    return read.mailbox.address;
  };
  return { bounceCopiesTo: await check("bounceCopiesTo"), replyCopiesTo: await check("replyCopiesTo") };
}

/**
 * Why copies of a team may not be sent to this address; null if they may. Checked when the address is set,
 * and before each copy, because members leave and domains move.
 */
export async function findMailboxFault(
  deps: Pick<Deps, "hot" | "names" | "recipientTokens">,
  teamId: string,
  address: string,
): Promise<string | null> {
  const domain = address.slice(address.lastIndexOf("@") + 1);
  const [found] = await deps.hot<{ isHost: boolean; isAllowed: boolean }[]>`
    select exists (select from domains where team_id = ${teamId} and return_path_label || '.' || name = ${domain}) as "isHost",
      exists (select from domains where team_id = ${teamId} and name = ${domain} and status = 'verified')
      or exists (select from memberships m join users u on u.id = m.user_id
        where m.team_id = ${teamId} and u.email = ${foldAddress(address)} and u.address_verified_at is not null) as "isAllowed"`;
  if (found?.isHost || domain === deps.names.returnPathDomain || isOurs(deps, address))
    return `${address} is at a return path, to which only bounces can be sent. Enter the address of a mailbox.`;
  if (found?.isAllowed && domain !== BUILT_IN_DOMAIN) return null;
  return `${address} cannot have copies. Enter an address at a verified domain of the team, or the verified address of a member.`;
}

async function listFaults(ctx: Ctx, { bounceCopiesTo, replyCopiesTo }: CopyMailboxes): Promise<string[]> {
  const addresses = [...new Set([bounceCopiesTo, replyCopiesTo])].filter((address) => address !== null);
  if (addresses.length === 0) return [];
  const mayReceive = receivesBounces(ctx)
    ? null
    : "This installation receives no bounces. Set BACKSTAMP_INBOUND_PORT, or BACKSTAMP_RETURN_PATH_DOMAIN.";
  const ofAddresses = addresses.map(
    async (address) =>
      (await findMailboxFault(ctx, ctx.teamId, address)) ?? (await findLastFailure(ctx, address)),
  );
  const faults = [mayReceive, await findSystemEmailFault(ctx), ...(await Promise.all(ofAddresses))];
  return faults.filter((fault) => fault !== null);
}

/** Why the newest copy to this address that ended was not sent. */
async function findLastFailure({ hot, teamId }: Ctx, address: string): Promise<string | null> {
  const [last] = await hot<{ status: string; lastReply: string | null }[]>`
    select status, last_reply as "lastReply" from return_copies
    where team_id = ${teamId} and recipient = ${address} and status in ('sent', 'failed')
    order by ended_at desc limit 1`;
  return last?.status === "failed"
    ? `The last copy to ${address} could not be sent: ${last.lastReply ?? "the reason is not known."}`
    : null;
}
