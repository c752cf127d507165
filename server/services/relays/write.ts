import { and, eq, isNull, sql } from "drizzle-orm";
import { isUniqueViolation } from "#db/faults";
import { type RelayProvider, relays } from "#db/schema/relays";
import type { Deps } from "#server/deps";
import { providerOfHost } from "#server/mail/transport/provider-id";
import { formatHostAndPort, parseSmtpUrl, type SmtpTarget } from "#server/mail/transport/smtp-url";
import { AppError } from "#server/platform/errors";
import { newId } from "#server/platform/ids";
import { readReason } from "../pauses/reason";
import { findRelay, isPausedRelay, type RelayView } from "./read";
import { vaultPlaceOfRelay } from "./seal";

/** Whose email a relay sends: of one domain, of one team, or of all teams if both are null. */
export type RelayScope = { teamId: string | null; domainId: string | null };

export type RelayChange = {
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
 * Adds a relay, last in its scope unless a position is given. By default the provider is derived from the
 * host, and whether we sign with DKIM from the provider. The URL is sealed and never shown again.
 */
export async function addRelay(deps: Deps, input: NewRelay): Promise<RelayView> {
  const target = readTarget(deps, input.url, input.teamId);
  const provider = input.provider === undefined ? providerOfHost(target.host) : input.provider;
  const id = newId();
  try {
    await deps.db.insert(relays).values({
      id,
      teamId: input.teamId,
      domainId: input.domainId,
      name: input.name,
      position: input.position ?? (await lastPosition(deps, input)) + 1,
      url: deps.vault.seal(input.url, vaultPlaceOfRelay("url", id)),
      host: formatHostAndPort(target),
      dkim: input.dkim ?? !(provider !== null && REWRITES.has(provider)),
      provider,
    });
  } catch (error) {
    if (isUniqueViolation(error, "relays_name_key"))
      throw new AppError("conflict", `A relay "${input.name}" already exists.`, { cause: error });
    throw error;
  }
  return findRelay(deps, id);
}

/** Changes the given fields. A new URL resets the relay's fault state. */
export async function updateRelay(
  deps: Deps,
  relay: Pick<RelayView, "id" | "teamId">,
  { url, ...change }: RelayChange,
): Promise<RelayView> {
  const target = url === undefined ? {} : targetColumns(deps, relay, url);
  if (Object.keys({ ...change, ...target }).length > 0)
    await deps.db
      .update(relays)
      .set({ ...change, ...target })
      .where(eq(relays.id, relay.id));
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
  const reason = readReason(given);
  const paused = await db
    .update(relays)
    .set({ pauseReason: reason })
    .where(and(eq(relays.id, id), isNull(relays.pauseReason)))
    .returning({ id: relays.id });
  if (paused.length === 0) throw new AppError("conflict", `Relay ${name} is already paused.`);
  log.warn("relay.paused_by_operator", { relayId: id, relay: name });
}

/** Ends any pause of a relay, by the operator or after faults. 409 if it is not paused. */
export async function endRelayPause(
  { db, log }: Deps,
  { id, name }: Pick<RelayView, "id" | "name">,
): Promise<void> {
  const resumed = await db
    .update(relays)
    .set({ pauseReason: null, pausedUntil: null, failures: 0 })
    .where(and(eq(relays.id, id), isPausedRelay))
    .returning({ id: relays.id });
  if (resumed.length === 0) throw new AppError("conflict", `Relay ${name} is not paused.`);
  log.info("relay.resumed_by_operator", { relayId: id, relay: name });
}

/** Removes a relay. Attempts in progress continue; waiting deliveries use the next available route. */
export async function removeRelay(deps: Deps, { id }: Pick<RelayView, "id">): Promise<void> {
  await deps.db.delete(relays).where(eq(relays.id, id));
}

function targetColumns(deps: Deps, { id, teamId }: Pick<RelayView, "id" | "teamId">, url: string) {
  const target = readTarget(deps, url, teamId);
  return {
    url: deps.vault.seal(url, vaultPlaceOfRelay("url", id)),
    host: formatHostAndPort(target),
    pausedUntil: null,
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
