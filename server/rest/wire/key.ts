import { z } from "zod";
import { LIMIT_PER_MINUTE, type Tier } from "#server/platform/limits/limits";
import { type ListedKey, rejectionsCountedMax } from "#server/services/keys/page";
import { Id, Time } from "#server/shared/wire/shapes";

const TIERS = Object.keys(LIMIT_PER_MINUTE) as [Tier, ...Tier[]];
const Count = z.int().min(0).max(rejectionsCountedMax);

export const KeyResponse = z
  .object({
    id: Id,
    name: z.string(),
    token_id: z.string().describe("The public part of the token, to identify it."),
    scopes: z.array(z.string()),
    all_domains: z.boolean(),
    domains: z.array(z.object({ id: Id, name: z.string() })),
    limits: z.partialRecord(z.enum(TIERS), z.int()).describe("Rate limits of this key, in calls per minute."),
    expires_at: Time.nullable(),
    rotated_from: Id.nullable(),
    created_at: Time,
    last_used_at: Time.nullable(),
    recent_refusals: z
      .object({ unauthorized: Count, forbidden: Count, rate_limited: Count })
      .describe(`Rejected requests in the last 24 hours, each counted up to ${rejectionsCountedMax}.`),
  })
  .meta({ id: "ApiKey" });

/** A key as in lists, without its secret. */
export function keyJson(key: ListedKey): z.infer<typeof KeyResponse> {
  return {
    id: key.id,
    name: key.name,
    token_id: key.tokenId,
    scopes: key.scopes,
    all_domains: key.allDomains,
    domains: key.links,
    limits: key.limits,
    expires_at: key.expiresAt?.toISOString() ?? null,
    rotated_from: key.rotatedFrom,
    created_at: key.createdAt.toISOString(),
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    recent_refusals: {
      unauthorized: key.refusals.unauthorized,
      forbidden: key.refusals.forbidden,
      rate_limited: key.refusals.rateLimited,
    },
  };
}
