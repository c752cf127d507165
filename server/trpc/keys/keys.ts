import { z } from "zod";
import { notFound } from "#server/platform/errors";
import { isId } from "#server/platform/ids";
import { CallsPerMinute, ClientNetworks, KeyName, limitsOf } from "#server/services/keys/key-input";
import { createKey, revokeKey, updateKey } from "#server/services/keys/keys";
import { listLinkable, setLink } from "#server/services/keys/links";
import { getKey, listRotation, pageKeys } from "#server/services/keys/read";
import { ROTATION, rotateKey } from "#server/services/keys/rotate";
import { countUse, getGauges, listRejections, type RejectionGroup } from "#server/services/keys/use";
import { dayMs } from "#server/shared/durations";
import { TIERS } from "#server/shared/rate-limits";
import { SCOPES } from "#server/shared/scopes";
import { type ApiKey, presentApiKey } from "#server/shared/wire/api-key";
import { type WithIsoTimes, withIsoTimes } from "#server/shared/wire/shapes";
import { setupOf } from "../domains/views";
import { CURSOR, inTeam, pageRows, router } from "../init";

const domainsMax = 1_000;
const soonMs = 7 * dayMs;

const requireId = <T extends string>(id: T): T => {
  if (!isId(id)) throw notFound("API key");
  return id;
};

const KeyId = { id: z.string().max(60) };
const Name = KeyName.trim().min(1, "Enter a name, such as the name of the app that will use the key.");
const Link = { ...KeyId, domainId: z.uuid() };

const KeyList = {
  state: z.literal("revoked").optional(),
  ...CURSOR,
};

const NewKey = {
  name: Name.optional(),
  scopes: z.array(z.enum(SCOPES)).min(1, "Choose at least one permission.").max(SCOPES.length),
  domains: z.union([
    z.literal("all"),
    z.array(z.uuid()).min(1, "Choose at least one domain.").max(domainsMax),
  ]),
  expiresAt: z.iso.datetime({ offset: true }).nullable(),
  /** Default: every address. */
  clientNetworks: ClientNetworks.default([]),
  limits: z.strictObject(Object.fromEntries(TIERS.map((tier) => [tier, CallsPerMinute.optional()]))),
};

const Rotation = {
  ...KeyId,
  overlapSeconds: z
    .int()
    .min(0)
    .max(ROTATION.overlapMsMax / 1_000),
};

/** Whether a key is currently accepted, and why not. */
type KeyState = "active" | "expired" | "revoked";

/** A key with what only the console shows. */
function viewKey(key: ApiKey, now: Date) {
  const { revokedAt, expiresAt } = key;
  const msLeft = expiresAt === null ? Number.POSITIVE_INFINITY : expiresAt.getTime() - now.getTime();
  const state: KeyState = revokedAt ? "revoked" : msLeft <= 0 ? "expired" : "active";
  return {
    ...presentApiKey(key),
    state,
    /** Whether an active key expires within 7 days. */
    expiresSoon: state === "active" && msLeft < soonMs,
    revokedAt: revokedAt?.toISOString() ?? null,
  };
}
export type KeyRow = ReturnType<typeof viewKey>;
export type KeyView = KeyRow & Awaited<ReturnType<typeof listRotation>>;

/** Rejected calls of a key with the same cause. */
export type RejectionView = WithIsoTimes<RejectionGroup>;

export const keysRouter = router({
  list: inTeam("keys:read", KeyList).query(async ({ ctx, input: { state, after, before } }) => {
    const page = { limit: pageRows, after, before, areRevoked: state === "revoked" };
    const { rows, hasMore } = await pageKeys(ctx.service, page);
    const now = ctx.service.clock();
    return { rows: rows.map((row) => viewKey(row, now)), hasMore };
  }),
  /** One key, with its predecessor and successor. */
  get: inTeam("keys:read", KeyId).query(async ({ ctx, input }) => {
    const key = await getKey(ctx.service, input.id);
    return { ...viewKey(key, ctx.service.clock()), ...(await listRotation(ctx.service, key)) };
  }),
  /** The state of the key's rate limits. Reading it does not count as a call. */
  gauges: inTeam("keys:read", KeyId).query(async ({ ctx, input }) =>
    getGauges(ctx.deps.limits, await getKey(ctx.service, input.id)),
  ),
  /** Requires the permission to read the API log, because it returns paths and reasons from it. */
  rejections: inTeam("logs:read", KeyId).query(async ({ ctx, input }) => {
    const { id } = await getKey(ctx.service, input.id);
    return withIsoTimes(await listRejections(ctx.service, id));
  }),
  /** Today's use of the key, shown before it is revoked. */
  use: inTeam("keys:read", KeyId).query(async ({ ctx, input }) => {
    const { id, lastUsedAt } = await getKey(ctx.service, input.id);
    return { ...(await countUse(ctx.service, id)), lastUsedAt: lastUsedAt?.toISOString() ?? null };
  }),
  /** The team's domains, from which those of a key are chosen. */
  options: inTeam("domains:read").query(async ({ ctx }) => ({
    domains: (await listLinkable(ctx.service)).map(({ status, ...domain }) => ({
      ...domain,
      setup: setupOf(status),
    })),
  })),
  /** Returns the token, only in this response. */
  create: inTeam("keys:write", NewKey).mutation(
    async ({ ctx, input: { name, scopes, domains, expiresAt, limits, clientNetworks } }) => {
      const end = expiresAt === null ? null : new Date(expiresAt);
      const grant = { scopes, domains, expiresAt: end, limits: limitsOf(limits), clientNetworks };
      const { key, token } = await createKey(ctx.service, { ...grant, name });
      return { id: key.id, token };
    },
  ),
  rename: inTeam("keys:write", { ...KeyId, name: Name }).mutation(({ ctx, input }) =>
    updateKey(ctx.service, requireId(input.id), { name: input.name }),
  ),
  /** Replaces the networks from which the key may be used; an empty list is every address. */
  setNetworks: inTeam("keys:write", { ...KeyId, clientNetworks: ClientNetworks }).mutation(
    ({ ctx, input: { id, clientNetworks } }) => updateKey(ctx.service, requireId(id), { clientNetworks }),
  ),
  /** Returns the new token, only in this response. */
  rotate: inTeam("keys:write", Rotation).mutation(async ({ ctx, input: { id, overlapSeconds } }) => {
    const rotated = await rotateKey(ctx.service, requireId(id), { overlapMs: overlapSeconds * 1_000 });
    const { key, token, previousUntil } = rotated;
    return { id: key.id, token, previousUntil: previousUntil.toISOString() };
  }),
  revoke: inTeam("keys:write", KeyId).mutation(({ ctx, input }) =>
    revokeKey(ctx.service, requireId(input.id)),
  ),
  link: inTeam("keys:write", Link).mutation(({ ctx, input: { id, domainId } }) =>
    setLink(ctx.service, { keyId: requireId(id), domainId }, true),
  ),
  unlink: inTeam("keys:write", Link).mutation(({ ctx, input: { id, domainId } }) =>
    setLink(ctx.service, { keyId: requireId(id), domainId }, false),
  ),
});
