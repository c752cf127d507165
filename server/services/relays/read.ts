import { and, asc, eq, exists, getTableColumns, inArray, isNull, not, or, type SQL, sql } from "drizzle-orm";
import type { AnyPgColumn } from "drizzle-orm/pg-core";
import { domains } from "#db/schema/domains";
import { type RelayProvider, relays, smtpUrlRelays } from "#db/schema/relays";
import { teams } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { isId } from "#server/platform/ids";
import type { Team } from "#server/shared/wire/people/team";
import { type RelayState, stateOfRelay } from "#server/shared/wire/relay-states";

const { url: _url, callbackSecret: _secret, addedProvider, ...visible } = getTableColumns(relays);

/** A relay without its secrets, with the team and domain that it serves. */
export type RelayView = Omit<
  typeof relays.$inferSelect,
  "url" | "callbackSecret" | "provider" | "addedProvider"
> & {
  provider: RelayProvider | null;
  team: string | null;
  domain: string | null;
  isPaused: boolean;
  state: RelayState;
};

/** SQL: the relay has passed its first test, so routing includes it. */
export const isRelayInUse = not(relays.isUntested);

/** SQL: paused after faults or by the operator. A new relay before its first test is paused, too. */
export const isPausedRelay = sql`(${relays.pausedUntil} is not null or ${relays.pauseReason} is not null)`;

const columns = {
  ...visible,
  provider: sql<RelayProvider | null>`coalesce(${relays.provider}, ${addedProvider})`,
  team: teams.name,
  domain: domains.name,
  isPaused: sql<boolean>`${isPausedRelay}`,
};

/** Relays: the shared ones first, then by team, each in the order in which they are tried. */
export const listRelays = async (deps: Deps, where?: SQL): Promise<RelayView[]> => {
  const rows = await deps.db
    .select(columns)
    .from(relays)
    .leftJoin(teams, eq(teams.id, relays.teamId))
    .leftJoin(domains, eq(domains.id, relays.domainId))
    .where(where)
    .orderBy(
      sql`${relays.teamId} nulls first`,
      sql`${relays.domainId} nulls first`,
      asc(relays.position),
      asc(relays.createdAt),
    );
  return rows.map((row) => ({ ...row, state: stateOfRelay(row) }));
};

/** The paused relays of `SMTP_URL` that workers still probe. */
export const listPausedSmtpUrlRelays = (deps: Pick<Deps, "db">) =>
  deps.db.select().from(smtpUrlRelays).where(sql.raw(IS_PROBED)).orderBy(asc(smtpUrlRelays.host));

/**
 * SQL: a paused relay of `SMTP_URL` that workers still probe. Each probe of a running worker that fails is a
 * new fault. The limit counts back from the last heartbeat: a scheduler may start a round only once a day,
 * and no worker probes meanwhile.
 */
export const IS_PROBED = `smtp_url_relays.paused_until is not null and smtp_url_relays.last_fault_at >
  coalesce((select max(beat_at) from workers), now()) - interval '10 minutes'`;

/** Finds a relay by id or name. If several teams use the name, the team or the id is required. */
export async function findRelay(deps: Deps, idOrName: string, team?: Team): Promise<RelayView> {
  const isNamed = eq(isId(idOrName) ? relays.id : relays.name, idOrName);
  const [relay, ...others] = await listRelays(deps, and(isNamed, team && eq(relays.teamId, team.id)));
  if (!relay) throw new AppError("not_found", `Relay "${idOrName}" not found.`);
  if (others.length > 0)
    throw new AppError("conflict", `Several relays are named "${idOrName}". Use the relay's id.`);
  return relay;
}

/** A relay with its sealed URL. */
export async function getSealedRelay(
  deps: Pick<Deps, "db">,
  id: string,
): Promise<{ id: string; teamId: string | null; url: string }> {
  const [found] = await deps.db
    .select({ id: relays.id, teamId: relays.teamId, url: relays.url })
    .from(relays)
    .where(eq(relays.id, id));
  if (!found) throw new AppError("not_found", "The relay was removed in the meantime.");
  return found;
}

/** What is needed to connect to a relay, and whether it is paused. */
export type SealedRelayState = Awaited<ReturnType<typeof listSealedRelays>>[number];

/** All relays with their sealed URLs. */
export const listSealedRelays = ({ db }: Pick<Deps, "db">) => {
  const { id, teamId, url, name, host, pausedUntil, pauseReason, isUntested } = relays;
  return db
    .select({ id, teamId, url, name, host, pausedUntil, pauseReason, isUntested })
    .from(relays)
    .orderBy(sql`${teamId} nulls first`, name, id);
};

/** Whether a relay carries email of a domain, unless its domain or team has relays of its own. */
export const carriesDomain = (teamId: AnyPgColumn | string, domainId: AnyPgColumn | string) =>
  and(
    isRelayInUse,
    or(
      isNull(relays.teamId),
      and(eq(relays.teamId, teamId), or(isNull(relays.domainId), eq(relays.domainId, domainId))),
    ),
  );

/** The domains of a team whose email is sent through a relay and not through `SMTP_URL`. */
export async function findRelayedDomains(
  { db }: Pick<Deps, "db">,
  { teamId, domainNames }: { teamId: string; domainNames: readonly string[] },
): Promise<Set<string>> {
  const serving = db.select({ one: sql`1` }).from(relays).where(carriesDomain(domains.teamId, domains.id));
  const found = await db
    .select({ name: domains.name })
    .from(domains)
    .where(and(eq(domains.teamId, teamId), inArray(domains.name, [...domainNames]), exists(serving)));
  return new Set(found.map(({ name }) => name));
}
