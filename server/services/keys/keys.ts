import { and, eq, gt, isNull, or, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { apiKeyDomains, apiKeys } from "#db/schema/api-keys";
import type { Ctx } from "#server/deps";
import { AppError, invalidField, notFound } from "#server/platform/errors";
import { newId } from "#server/platform/ids";
import { mintToken } from "#server/platform/secrets/secrets";
import type { ApiKey } from "#server/shared/wire/api-key";
import { recordAudit } from "../audit/record";
import { lockTeam } from "../lock-team";
import {
  type Grant,
  type GrantRequest,
  isActiveKey,
  permissionsOfCaller,
  requireNetworks,
  resolveGrant,
} from "./grant";
import { getKey } from "./read";

/**
 * Only the operator may set an expiry in the past; such a key is rejected from the start. Without a name the
 * key gets the first free one of "API key 1", "API key 2" and so on.
 */
export type NewKey = GrantRequest & { name?: string };

/** Each key has its own rate limits, so their number limits what a team can call. */
const keysPerTeamMax = 1_000;

/**
 * Runs a transaction that changes keys or their links. After it returns, this process no longer accepts the
 * previous state.
 */
export async function changeKeys<T>(ctx: Ctx, task: (tx: Db) => Promise<T>): Promise<T> {
  try {
    return await ctx.db.transaction(task);
  } finally {
    // Also after a failure: the response to COMMIT may have been lost.
    ctx.clearKeyCache();
  }
}

/**
 * Creates a key and returns its token, which is not available later: only a hash is stored. A calling key can
 * grant at most its own permissions, see `resolveGrant`.
 */
export async function createKey(ctx: Ctx, input: NewKey): Promise<{ key: ApiKey; token: string }> {
  if (ctx.actor.kind !== "operator" && input.expiresAt && input.expiresAt <= ctx.clock())
    throw invalidField(
      "expires_at",
      "it is in the past. Use a future time, or omit it.",
      "it is in the past. Use a future time, or no expiry.",
    );
  return ctx.db.transaction(async (tx) => {
    await lockTeam(tx, ctx.teamId);
    const caller = await permissionsOfCaller(tx, ctx);
    const grant = await resolveGrant(tx, ctx, caller, input);
    const made = await insertKey(tx, ctx, {
      name: input.name ?? (await findFreeName(tx, ctx)),
      grant,
      familyId: caller?.familyId ?? null,
      rotatedFrom: null,
    });
    const { id, name } = made.key;
    await recordAudit(tx, ctx, { action: "key.created", subject: { id, name }, detail: detailOf(grant) });
    return made;
  });
}

async function findFreeName(tx: Db, { teamId }: Ctx): Promise<string> {
  const [free] = await tx.execute<{ name: string }>(sql`
    select 'API key ' || n as name
    from generate_series(1, (select count(*) from ${apiKeys} where ${apiKeys.teamId} = ${teamId}) + 1) n
    where not exists (
      select from ${apiKeys} where ${apiKeys.teamId} = ${teamId} and ${apiKeys.name} = 'API key ' || n)
    order by n limit 1`);
  if (!free) throw new TypeError("as many names as keys and one more are never all taken");
  return free.name;
}

/** The audit detail of a grant, with one entry for each limit that it sets. */
const detailOf = ({ scopes, allDomains, domains, expiresAt, limits, clientNetworks }: Grant) => ({
  scopes: [...scopes],
  domains: allDomains ? "all" : domains.map(({ name }) => name),
  expires_at: expiresAt?.toISOString() ?? null,
  ...(clientNetworks.length > 0 && { client_networks: clientNetworks }),
  ...Object.fromEntries(Object.entries(limits).map(([tier, number]) => [`limit ${tier}`, number])),
});

/**
 * Inserts a key with its links. The caller has locked the team and checked the grant. AppError `conflict` if
 * the team has the maximum of valid keys.
 */
export async function insertKey(
  tx: Db,
  ctx: Ctx,
  {
    name,
    grant,
    familyId,
    rotatedFrom,
  }: { name: string; grant: Grant; familyId: string | null; rotatedFrom: string | null },
): Promise<{ key: ApiKey; token: string }> {
  const isValid = or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, sql`now()`));
  const valid = and(eq(apiKeys.teamId, ctx.teamId), isNull(apiKeys.revokedAt), isValid);
  if ((await tx.$count(apiKeys, valid)) >= keysPerTeamMax)
    throw new AppError(
      "conflict",
      `A team has at most ${keysPerTeamMax} valid API keys. Revoke an unused key first${rotatedFrom ? ", or rotate this one without an overlap" : ""}.`,
    );
  const { token, tokenId, secretHash } = mintToken();
  const { scopes, domains, ...others } = grant;
  const id = newId();
  await tx.insert(apiKeys).values({
    id,
    teamId: ctx.teamId,
    name,
    tokenId,
    secretHash,
    scopes: [...scopes],
    ...others,
    familyId,
    rotatedFrom,
  });
  await insertLinks(tx, ctx, id, domains);
  return { key: await getKey({ ...ctx, db: tx }, id), token };
}

/** Links a key to domains that it is not linked to yet. */
export async function insertLinks(
  tx: Db,
  { teamId }: Ctx,
  apiKeyId: string,
  domains: readonly { id: string }[],
): Promise<void> {
  if (domains.length > 0)
    await tx.insert(apiKeyDomains).values(domains.map(({ id }) => ({ teamId, apiKeyId, domainId: id })));
}

/**
 * Changes the name of a key, its client networks, or both, in one transaction. Networks take effect
 * immediately.
 */
export async function updateKey(
  ctx: Ctx,
  id: string,
  { name, clientNetworks }: { name?: string; clientNetworks?: readonly string[] },
): Promise<{ id: string }> {
  if (name === undefined && clientNetworks === undefined) return { id };
  return changeKeys(ctx, async (tx) => {
    const caller = clientNetworks && (await permissionsOfCaller(tx, ctx));
    if (caller) requireNetworks(caller, clientNetworks);
    const [before] = await tx
      .select({ name: apiKeys.name, networks: apiKeys.clientNetworks })
      .from(apiKeys)
      .where(isActiveKey(ctx, id))
      .for("no key update");
    if (!before) throw notFound("API key");
    // A caller with limited networks must not free another key of its limits, and then use that one.
    if (caller) requireNetworks(caller, before.networks);
    const after = { name: name ?? before.name, networks: [...(clientNetworks ?? before.networks)] };
    await tx
      .update(apiKeys)
      .set({ name: after.name, clientNetworks: after.networks })
      .where(isActiveKey(ctx, id));
    const subject = { id, name: after.name };
    const detail = { client_networks: after.networks, client_networks_before: before.networks };
    if (String(before.networks) !== String(after.networks))
      await recordAudit(tx, ctx, { action: "key.changed", subject, detail });
    if (before.name !== after.name)
      await recordAudit(tx, ctx, { action: "key.renamed", subject, detail: { before: before.name } });
    return { id };
  });
}

/**
 * Revokes a key. This process rejects it immediately, other processes as soon as they receive the
 * notification.
 */
export async function revokeKey(ctx: Ctx, id: string): Promise<{ id: string }> {
  return changeKeys(ctx, async (tx) => {
    const [revoked] = await tx
      .update(apiKeys)
      .set({ revokedAt: sql`now()` })
      .where(isActiveKey(ctx, id))
      .returning({ name: apiKeys.name });
    if (!revoked) throw notFound("API key");
    await recordAudit(tx, ctx, { action: "key.revoked", subject: { id, name: revoked.name } });
    return { id };
  });
}
