import { z } from "zod";
import type { apiKeys } from "#db/schema/api-keys";
import { TIERS } from "../rate-limits";
import { Id, present, Time } from "./shapes";

/** Rejections are counted up to this number; counting all could read millions of rows. */
export const rejectionsCountedMax = 1_000;
const Count = z.int().min(0).max(rejectionsCountedMax);

export const ApiKeyResponse = z
  .object({
    id: Id,
    name: z.string(),
    token_id: z.string().describe("The public part of the token, to identify it."),
    scopes: z.array(z.string()),
    all_domains: z.boolean(),
    domains: z.array(z.object({ id: Id, name: z.string() })),
    limits: z.partialRecord(z.enum(TIERS), z.int()).describe("Rate limits of this key, in calls per minute."),
    client_networks: z
      .array(z.string())
      .describe("Networks from which the key may be used, in CIDR notation. Empty: from every address."),
    expires_at: Time.nullable(),
    rotated_from: Id.nullable(),
    created_at: Time,
    last_used_at: Time.nullable(),
    recent_refusals: z
      .object({ unauthorized: Count, forbidden: Count, rate_limited: Count })
      .describe(`Rejected requests in the last 24 hours, each counted up to ${rejectionsCountedMax}.`),
  })
  .meta({ id: "ApiKey" });
type Response = z.infer<typeof ApiKeyResponse>;

/** A key without its secret. */
export type ApiKey = Omit<typeof apiKeys.$inferSelect, "secretHash"> & {
  /** Domains that the key is linked to; empty for a key with access to all domains. */
  links: Response["domains"];
  /** Calls of the last 24 hours that were rejected with 401 (expired key), 403 and 429. */
  rejections: Response["recent_refusals"];
};

/** A key without its secret, as in every list of keys. */
export const presentApiKey = (key: ApiKey): Response =>
  present(ApiKeyResponse, key, { domains: key.links, recent_refusals: key.rejections });
