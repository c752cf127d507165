import { z } from "zod";
import { LIMIT_PER_MINUTE, type Tier } from "#server/limits/limits";
import { type ListedKey, refusalsCountedMax } from "#server/services/keys/page";
import { Id, Time } from "./shapes";

const TIERS = Object.keys(LIMIT_PER_MINUTE) as [Tier, ...Tier[]];
const Count = z.int().min(0).max(refusalsCountedMax);

export const KeyAnswer = z
  .object({
    id: Id,
    name: z.string(),
    token_id: z.string().describe("The part of the token that may be seen, by which it is recognised."),
    scopes: z.array(z.string()),
    all_domains: z.boolean(),
    domains: z.array(z.object({ id: Id, name: z.string() })),
    limits: z.partialRecord(z.enum(TIERS), z.int()).describe("Own limits, in calls a minute."),
    expires_at: Time.nullable(),
    rotated_from: Id.nullable(),
    created_at: Time,
    last_used_at: Time.nullable(),
    recent_refusals: z
      .object({ unauthorized: Count, forbidden: Count, rate_limited: Count })
      .describe(`Of the last 24 hours, each counted up to ${refusalsCountedMax}.`),
  })
  .meta({ id: "ApiKey" });

/** A key as lists show it, without anything that would let one in. */
export function keyJson(key: ListedKey): z.infer<typeof KeyAnswer> {
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
