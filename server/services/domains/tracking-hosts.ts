import { and, eq, isNotNull, ne, sql } from "drizzle-orm";
import { type RecordCheck, trackingHosts } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { newId } from "#server/platform/ids";
import { checkOf } from "./check/doctor";
import { nextCheckInMs, VERIFIED_INTERVALS } from "./check/evaluate";
import { trackingHostOf } from "./check/records";
import type { Domain } from "./read";

/**
 * Hosts of one domain. Each stays in use by email that was sent, and each can have a certificate, of which an
 * authority issues only so many.
 */
const hostsMax = 10;

/** Time limit of the request by which a check finds whether a host serves links. */
const httpsMsMax = 5_000;

type Tracked = Parameters<typeof trackingHostOf>[0];

/**
 * Checks whether the host of a verified domain serves links: it records that its CNAME record leads here,
 * from when on its certificate can be requested, and then requests a link over HTTPS. Null if there is no
 * such record yet. `checks` are those of the DNS records.
 */
export async function checkTrackingHost(
  ctx: Ctx,
  domain: Domain,
  checks: readonly RecordCheck[],
  signal?: AbortSignal,
): Promise<RecordCheck | null> {
  const host = trackingHostOf(domain);
  const record = checks.find(({ key }) => key === "tracking");
  // Only DNS proves that a name is the team's. Otherwise it could take over the host of another one.
  if (host === null || !record || domain.status !== "verified") return null;
  const isSeen = record.status === "verified";
  await recordHost(ctx, domain.id, host, isSeen);
  if (!isSeen) return null;
  // HEAD is not recorded as an open. Only this installation can decrypt the token.
  const copy = { teamId: ctx.teamId, emailId: newId(), deliveryId: newId() };
  const url = new URL(ctx.recipientTokens.openLink(copy, host));
  const request = { method: "HEAD", timeoutMs: httpsMsMax, responseBytesMax: 0 } as const;
  const response = await ctx.outside.fetch(url.href, { ...request, ...(signal && { signal }) });
  const isServed =
    response.kind === "answer" && response.status === 200 && response.headers["content-type"] === "image/gif";
  const found = response.kind === "answer" ? `status ${response.status}` : `no response (${response.fault})`;
  return checkOf(
    { key: "tracking_https", host, type: "HTTPS", resolver: url.origin, expected: null, domain },
    { fault: isServed ? null : "links_not_served", answers: [found], found },
  );
}

/** Hosts that were never seen are not kept: no email has them. */
async function recordHost(
  { hot, teamId }: Ctx,
  domainId: string,
  host: string,
  isSeen: boolean,
): Promise<void> {
  await hot`
    with removed as (
      delete from tracking_hosts
      where team_id = ${teamId} and domain_id = ${domainId} and host <> ${host} and seen_at is null
    )
    insert into tracking_hosts as h (team_id, domain_id, host, seen_at)
    select d.team_id, d.id, ${host}, case when ${isSeen} then now() end from domains d
    where d.team_id = ${teamId} and d.id = ${domainId} for key share
    on conflict (team_id, domain_id, host) do update set seen_at = now()
    where h.seen_at is null and excluded.seen_at is not null`;
}

/** The host of links in new email after these checks; null for that of the installation. */
export function linkHostAfter(
  domain: Tracked & Pick<Domain, "trackingHost">,
  checks: readonly RecordCheck[],
): string | null {
  const host = trackingHostOf(domain);
  const hasCheck = (key: RecordCheck["key"], status: RecordCheck["status"]) =>
    checks.some((check) => check.key === key && check.status === status && check.askedName === host);
  if (hasCheck("tracking", "temporary_failure")) return domain.trackingHost;
  return hasCheck("tracking_https", "verified") ? host : null;
}

/**
 * Time until the host of a verified domain is checked again, in ms: soon while it is new and serves no links.
 * Null if the domain has none.
 */
export async function nextHostCheckMs(
  ctx: Ctx,
  domain: Tracked & Pick<Domain, "id">,
  isServing: boolean,
): Promise<number | null> {
  const host = trackingHostOf(domain);
  if (host === null || ctx.names.webHost === null) return null;
  if (isServing) return VERIFIED_INTERVALS.everyMs;
  const [row] = await ctx.db
    .select({ ms: sql<number>`(extract(epoch from now() - ${trackingHosts.createdAt}) * 1000)::float8` })
    .from(trackingHosts)
    .where(and(ofDomain(ctx, domain.id), eq(trackingHosts.host, host)));
  return nextCheckInMs(row?.ms ?? 0) ?? VERIFIED_INTERVALS.whileFailingMs;
}

/** AppError `conflict` if the domain has used as many other hosts as are kept. */
export async function requireHostAllowed(ctx: Ctx, domain: Tracked & Pick<Domain, "id">): Promise<void> {
  const host = trackingHostOf(domain);
  if (host === null) return;
  const others = await ctx.db
    .select({ host: trackingHosts.host })
    .from(trackingHosts)
    .where(and(ofDomain(ctx, domain.id), ne(trackingHosts.host, host), isNotNull(trackingHosts.seenAt)));
  if (others.length >= hostsMax)
    throw new AppError(
      "conflict",
      `Links of ${domain.name} have used ${hostsMax} host names, which email that was sent still needs. Set \`tracking_subdomain\` to the label of one of them: ${others.map((other) => other.host).join(", ")}.`,
    );
}

const ofDomain = ({ teamId }: Pick<Ctx, "teamId">, id: string) =>
  and(eq(trackingHosts.teamId, teamId), eq(trackingHosts.domainId, id));
