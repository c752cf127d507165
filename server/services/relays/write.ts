import { and, eq, isNull, sql } from "drizzle-orm";
import { isUniqueViolation } from "#db/faults";
import { type RelayProvider, relays } from "#db/schema/relays";
import type { Deps } from "#server/deps";
import { AppError } from "#server/errors";
import { newId } from "#server/ids";
import { providerOfHost } from "#server/mail/transport/provider-id";
import { parseSmtpUrl, type SmtpTarget } from "#server/mail/transport/smtp-url";
import { findRelay, type ShownRelay } from "./read";
import { placeOfRelay } from "./seal";

/** Whose mail goes by a relay: a domain's, a team's, or with both null everybody's. */
export type RelayScope = { teamId: string | null; domainId: string | null };

export type RelayChange = {
  /** `smtp://…` or `smtps://…`, with its password. */
  url?: string;
  dkim?: boolean;
  provider?: RelayProvider | null;
  position?: number;
};
export type NewRelay = RelayScope & RelayChange & { name: string; url: string };

/** Providers that rewrite Message-ID and Date, which our signatures cover, and sign by themselves. */
const REWRITES: ReadonlySet<RelayProvider> = new Set(["ses"]);

/**
 * Makes a relay, last in its scope unless a position is given. The provider follows from the host, and whether our DKIM
 * signatures go along from the provider, where nothing else is said. The URL is sealed, and told to nobody again.
 */
export async function addRelay(deps: Deps, input: NewRelay): Promise<ShownRelay> {
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
      url: deps.vault.seal(input.url, placeOfRelay("url", id)),
      host: hostOf(target),
      dkim: input.dkim ?? !(provider !== null && REWRITES.has(provider)),
      provider,
    });
  } catch (error) {
    if (isUniqueViolation(error, "relays_name_key"))
      throw new AppError("conflict", `There is a relay "${input.name}" already.`, { cause: error });
    throw error;
  }
  return findRelay(deps, id);
}

/** Changes what is given. A relay with another URL begins anew: what was known of its faults is forgotten. */
export async function changeRelay(
  deps: Deps,
  relay: Pick<ShownRelay, "id" | "teamId">,
  { url, ...change }: RelayChange,
): Promise<ShownRelay> {
  const moved = url === undefined ? {} : movedTo(deps, relay, url);
  if (Object.keys({ ...change, ...moved }).length > 0)
    await deps.db
      .update(relays)
      .set({ ...change, ...moved })
      .where(eq(relays.id, relay.id));
  return findRelay(deps, relay.id);
}

/** Ends a relay. What is under way by it goes on; what waits for it takes the next way that there is. */
export async function removeRelay(deps: Deps, { id }: Pick<ShownRelay, "id">): Promise<void> {
  await deps.db.delete(relays).where(eq(relays.id, id));
}

function movedTo(deps: Deps, { id, teamId }: Pick<ShownRelay, "id" | "teamId">, url: string) {
  const target = readTarget(deps, url, teamId);
  return {
    url: deps.vault.seal(url, placeOfRelay("url", id)),
    host: hostOf(target),
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
  // A name is judged with each connection.
  const isAddress = /^[\d.]+$|:/.test(host);
  if (teamId !== null && isAddress && outside.judgeAddress(host) === "blocked")
    throw new AppError(
      "invalid",
      `${host} is not an address of the public Internet. POSTHORN_EGRESS_ALLOW opens networks to relays of teams.`,
    );
  return read.target;
}

const hostOf = ({ host, port }: SmtpTarget): string => `${host.includes(":") ? `[${host}]` : host}:${port}`;

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
