import { z } from "zod";
import type { OwnLimits } from "#db/schema/api-keys";
import { notFound } from "#server/platform/errors";
import { isId } from "#server/platform/ids";
import { LIMIT_PER_MINUTE } from "#server/platform/limits/limits";
import { readGauges } from "#server/services/keys/gauge";
import { CallsPerMinute, KeyName, TIERS } from "#server/services/keys/key-input";
import { createKey, renameKey, revokeKey } from "#server/services/keys/keys";
import { linkDomain, listLinkable, unlinkDomain } from "#server/services/keys/links";
import { getKey, pageKeys } from "#server/services/keys/page";
import { ROTATION, rotateKey } from "#server/services/keys/rotate";
import { countUse, listRejections } from "#server/services/keys/use";
import { SCOPES } from "#server/shared/scopes";
import { inTeam, router } from "../init";
import { TeamInput } from "../strict";
import { viewGauge, viewKey, viewKeyDetail, viewRefusal } from "./views";

const pageRows = 25;
const domainsMax = 1_000;

const idText = z.string().max(60);
const requireId = <T extends string>(id: T): T => {
  if (!isId(id)) throw notFound("API key");
  return id;
};

const team = idText;
const KeyId = z.strictObject({ team, id: idText });
const Name = KeyName.trim().min(1, "Enter a name, such as the name of the app that will use the key.");

const KeyList = z.strictObject({
  team,
  state: z.literal("revoked").optional(),
  after: z.uuid().optional(),
  before: z.uuid().optional(),
});

const NewKey = z.strictObject({
  team,
  name: Name,
  scopes: z.array(z.enum(SCOPES)).min(1, "Choose at least one permission.").max(SCOPES.length),
  domains: z.union([
    z.literal("all"),
    z.array(z.uuid()).min(1, "Choose at least one domain.").max(domainsMax),
  ]),
  expiresAt: z.iso.datetime({ offset: true }).nullable(),
  limits: z.strictObject(Object.fromEntries(TIERS.map((tier) => [tier, CallsPerMinute.optional()]))),
});

const Link = z.strictObject({ team, id: idText, domainId: z.uuid() });

const Rotation = z.strictObject({
  team,
  id: idText,
  overlapSeconds: z
    .int()
    .min(0)
    .max(ROTATION.overlapMsMax / 1_000),
});

const limitsOf = (given: Record<string, number | undefined>): OwnLimits =>
  Object.fromEntries(Object.entries(given).filter(([, number]) => number !== undefined));

export const keysRouter = router({
  list: inTeam("keys:read")
    .input(KeyList)
    .query(async ({ ctx, input: { state, after, before } }) => {
      const page = { limit: pageRows, after, before, areRevoked: state === "revoked" };
      const { rows, hasMore } = await pageKeys(ctx.service, page);
      const now = ctx.service.clock();
      return { rows: rows.map((row) => viewKey(row, now)), hasMore };
    }),
  get: inTeam("keys:read")
    .input(KeyId)
    .query(async ({ ctx, input }) => viewKeyDetail(await getKey(ctx.service, input.id), ctx.service.clock())),
  /** The state of the key's rate limits. Reading it does not count as a call. */
  gauges: inTeam("keys:read")
    .input(KeyId)
    .query(async ({ ctx, input }) => {
      const gauges = await readGauges(ctx.deps.limits, await getKey(ctx.service, input.id));
      return gauges.map(viewGauge);
    }),
  /** Requires the permission to read the API log, because it returns paths and reasons from it. */
  refusals: inTeam("logs:read")
    .input(KeyId)
    .query(async ({ ctx, input }) => {
      const { id } = await getKey(ctx.service, input.id);
      return (await listRejections(ctx.service, id)).map(viewRefusal);
    }),
  /** Today's use of the key, shown before it is revoked. */
  use: inTeam("keys:read")
    .input(KeyId)
    .query(async ({ ctx, input }) => {
      const { id, lastUsedAt } = await getKey(ctx.service, input.id);
      return { ...(await countUse(ctx.service, id)), lastUsedAt: lastUsedAt?.toISOString() ?? null };
    }),
  /** Options for a new key: the team's domains, and the default limits. */
  options: inTeam("domains:read")
    .input(TeamInput)
    .query(async ({ ctx }) => ({
      domains: await listLinkable(ctx.service),
      limits: LIMIT_PER_MINUTE,
    })),
  /** Returns the token, only in this response. */
  create: inTeam("keys:write")
    .input(NewKey)
    .mutation(async ({ ctx, input: { name, scopes, domains, expiresAt, limits } }) => {
      const end = expiresAt === null ? null : new Date(expiresAt);
      const request = { name, scopes, domains, expiresAt: end, limits: limitsOf(limits) };
      const { key, token } = await createKey(ctx.service, request);
      return { id: key.id, token };
    }),
  rename: inTeam("keys:write")
    .input(KeyId.extend({ name: Name }))
    .mutation(({ ctx, input }) => renameKey(ctx.service, requireId(input.id), input.name)),
  /** Returns the new token, only in this response. */
  rotate: inTeam("keys:write")
    .input(Rotation)
    .mutation(async ({ ctx, input: { id, overlapSeconds } }) => {
      const rotated = await rotateKey(ctx.service, requireId(id), { overlapMs: overlapSeconds * 1_000 });
      const { key, token, previousUntil } = rotated;
      return { id: key.id, token, previousUntil: previousUntil.toISOString() };
    }),
  revoke: inTeam("keys:write")
    .input(KeyId)
    .mutation(({ ctx, input }) => revokeKey(ctx.service, requireId(input.id))),
  link: inTeam("keys:write")
    .input(Link)
    .mutation(({ ctx, input: { id, domainId } }) =>
      linkDomain(ctx.service, { keyId: requireId(id), domainId }),
    ),
  unlink: inTeam("keys:write")
    .input(Link)
    .mutation(({ ctx, input: { id, domainId } }) =>
      unlinkDomain(ctx.service, { keyId: requireId(id), domainId }),
    ),
});
