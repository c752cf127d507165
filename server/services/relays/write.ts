import { and, eq, isNotNull, isNull, sql } from "drizzle-orm";
import { isUniqueViolation } from "#db/faults";
import { providerColumns, type RelayProvider, relays } from "#db/schema/relays";
import type { Deps } from "#server/deps";
import { providerOfHost } from "#server/mail/transport/provider-id";
import { formatHostAndPort, parseSmtpUrl, type SmtpTarget } from "#server/mail/transport/smtp-url";
import { AppError } from "#server/platform/errors";
import { newId } from "#server/platform/ids";
import { SEALED } from "#server/platform/secrets/sealed-columns";
import { parseReason } from "../pauses/reason";
import { requeuePaused } from "./health";
import { findRelay, type RelayView } from "./read";

/** Whose email a relay sends: of one domain, of one team, or of all teams if both are null. */
export type RelayScope = { teamId: string | null; domainId: string | null };

export type RelayChange = {
  name?: string;
  /** `smtp://…` or `smtps://…`, with its password. */
  url?: string;
  dkim?: boolean;
  provider?: RelayProvider | null;
  position?: number;
};
export type NewRelay = RelayScope & RelayChange & { name: string; url: string };

/**
 * Providers that rewrite Message-ID and Date, which our DKIM signatures cover, and that sign email
 * themselves.
 */
const REWRITES: ReadonlySet<RelayProvider> = new Set(["ses"]);

/**
 * Adds a relay, last in its scope unless a position is given. It carries email after its first successful
 * test, by `testRelay` or by a worker within seconds. By default the provider is derived from the
 * host, and whether we sign with DKIM from the provider. The URL is sealed and never shown again.
 */
export async function addRelay(deps: Deps, input: NewRelay): Promise<RelayView> {
  const target = readTarget(deps, input.url, input.teamId);
  const provider = input.provider === undefined ? providerOfHost(target.host) : input.provider;
  const id = newId();
  const position = input.position ?? (await lastPosition(deps, input)) + 1;
  await rejectUsedName(
    input.name,
    deps.db.insert(relays).values({
      id,
      teamId: input.teamId,
      domainId: input.domainId,
      name: input.name,
      position,
      url: deps.vault.seal(input.url, SEALED.relayUrl.locationOf({ id })),
      host: formatHostAndPort(target),
      dkim: input.dkim ?? signsFor(provider),
      ...providerColumns(provider),
      isUntested: true,
      pausedUntil: sql`now()`,
    }),
  );
  return findRelay(deps, id);
}

const signsFor = (provider: RelayProvider | null): boolean => provider === null || !REWRITES.has(provider);

async function rejectUsedName(name: string | undefined, write: PromiseLike<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (isUniqueViolation(error, "relays_name_key"))
      throw new AppError("conflict", `A relay "${name}" already exists.`, { cause: error });
    throw error;
  }
}

/**
 * Changes the given fields. With a new URL the relay is paused until a test succeeds, and a provider that was
 * derived from the former host is derived from the new one. 409 if the name is used.
 */
export async function updateRelay(
  deps: Deps,
  relay: Pick<RelayView, "id" | "teamId" | "host" | "provider">,
  { url, provider, ...given }: RelayChange,
): Promise<RelayView> {
  const target = url === undefined ? {} : targetColumns(deps, relay, url);
  const change = { ...given, ...(provider !== undefined && providerColumns(provider)) };
  if (Object.keys({ ...change, ...target }).length > 0)
    await rejectUsedName(
      change.name,
      deps.db
        .update(relays)
        .set({ ...target, ...change })
        .where(eq(relays.id, relay.id)),
    );
  return findRelay(deps, relay.id);
}

/**
 * Pauses a relay until the operator resumes it: its email uses the next relay or waits, and dialogues in
 * progress finish. 409 if the operator has paused it already.
 */
export async function pauseRelay(
  { db, log }: Deps,
  { id, name }: Pick<RelayView, "id" | "name">,
  given: string,
): Promise<void> {
  const reason = parseReason(given);
  const paused = await db
    .update(relays)
    .set({ pauseReason: reason })
    .where(and(eq(relays.id, id), isNull(relays.pauseReason)))
    .returning({ id: relays.id });
  if (paused.length === 0) throw new AppError("conflict", `Relay ${name} is already paused.`);
  log.warn("relay.paused_by_operator", { relayId: id, relay: name });
}

/**
 * Ends the operator's pause of a relay. If it is also new, changed or failing, it carries email after its
 * next successful test. 409 if the operator has not paused it.
 */
export async function endRelayPause(
  { db, hot, log }: Deps,
  { id, name }: Pick<RelayView, "id" | "name">,
): Promise<void> {
  const [resumed] = await db
    .update(relays)
    .set({ pauseReason: null, pausedUntil: sql`case when ${relays.pausedUntil} is not null then now() end` })
    .where(and(eq(relays.id, id), isNotNull(relays.pauseReason)))
    .returning({ teamId: relays.teamId });
  if (!resumed)
    throw new AppError(
      "conflict",
      `The operator has not paused relay ${name}. A failing relay is resumed when a test succeeds: test it.`,
    );
  await requeuePaused(hot, resumed.teamId);
  log.info("relay.resumed_by_operator", { relayId: id, relay: name });
}

/** Removes a relay. Attempts in progress continue; waiting deliveries use the next available route. */
export async function removeRelay(
  { db, hot }: Deps,
  { id, teamId }: Pick<RelayView, "id" | "teamId">,
): Promise<void> {
  await db.delete(relays).where(eq(relays.id, id));
  await requeuePaused(hot, teamId);
}

function targetColumns(
  deps: Deps,
  { id, teamId, host, provider: former }: Pick<RelayView, "id" | "teamId" | "host" | "provider">,
  url: string,
) {
  const target = readTarget(deps, url, teamId);
  const provider = providerOfHost(target.host);
  const isDerived = former === providerOfHost(host.replace(/:\d+$/, ""));
  return {
    ...(isDerived && provider !== former && { ...providerColumns(provider), dkim: signsFor(provider) }),
    url: deps.vault.seal(url, SEALED.relayUrl.locationOf({ id })),
    host: formatHostAndPort(target),
    pausedUntil: sql`now()`,
    failures: 0,
    lastFault: null,
    lastFaultAt: null,
  };
}

function readTarget({ outside }: Deps, url: string, teamId: string | null): SmtpTarget {
  const read = parseSmtpUrl(url);
  if (!read.ok) throw new AppError("invalid", `The URL of the relay is not usable. ${read.fault}`);
  const { host } = read.target;
  // A host name is checked for each connection instead.
  const isAddress = /^[\d.]+$|:/.test(host);
  if (teamId !== null && isAddress && outside.judgeAddress(host) === "blocked")
    throw new AppError(
      "invalid",
      `${host} is not a public address. The operator can allow networks for team relays with BACKSTAMP_EGRESS_ALLOW.`,
    );
  return read.target;
}

async function lastPosition({ db }: Deps, { teamId, domainId }: RelayScope): Promise<number> {
  const [last] = await db
    .select({ position: sql<number>`coalesce(max(${relays.position}), 0)::int` })
    .from(relays)
    .where(
      and(
        teamId === null ? isNull(relays.teamId) : eq(relays.teamId, teamId),
        domainId === null ? isNull(relays.domainId) : eq(relays.domainId, domainId),
      ),
    );
  return last?.position ?? 0;
}
