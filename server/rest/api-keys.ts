import { z } from "zod";
import { createKey, renameKey, revokeKey } from "#server/services/keys/keys";
import { setLink } from "#server/services/keys/links";
import { pageKeys } from "#server/services/keys/read";
import { rotateKey } from "#server/services/keys/rotate";
import { ApiKeyResponse, presentApiKey } from "#server/shared/wire/api-key";
import { changed, deleted, Id, listOf, Time } from "#server/shared/wire/shapes";
import { listJson, PAGING_OF_WHOLE, rejectTwoCursors } from "./pipeline/query";
import { withApi } from "./pipeline/route";
import { requireId } from "./pipeline/validate";
import { CreateKeyBody, RenameKeyBody, RotateKeyBody } from "./wire/key-input";

const Token = z
  .string()
  .describe("The complete key. Only this response contains it; it cannot be read again.");
/**
 * Only this response and that of a rotation contain a token. A key that requests more permissions than it has itself is
 * rejected with the 403 of the specification.
 */
export const postKey = withApi(
  {
    method: "POST",
    path: "/api/api-keys",
    access: { scope: "keys:write" },
    tier: "other",
    summary: "Create an API key with at most the permissions of the calling key",
    status: 201,
    body: CreateKeyBody,
    example: { body: { name: "Shop", scopes: ["emails:send", "emails:read"] } },
    response: z.object({ id: Id, token: Token }),
  },
  async ({ ctx, body }) => {
    const { key, token } = await createKey(ctx, body);
    return { body: { id: key.id, token } };
  },
);

export const getKeys = withApi(
  {
    method: "GET",
    path: "/api/api-keys",
    access: { scope: "keys:read" },
    tier: "other",
    summary: "List API keys, newest first, with last use and recent rejected requests",
    query: z.strictObject(PAGING_OF_WHOLE),
    example: { query: { limit: "20" } },
    response: listOf(ApiKeyResponse),
  },
  async ({ ctx, query }) => {
    rejectTwoCursors(query);
    const { rows, hasMore } = await pageKeys(ctx, query);
    return { body: listJson(rows.map(presentApiKey), hasMore) };
  },
);

export const patchKey = withApi(
  {
    method: "PATCH",
    path: "/api/api-keys/{id}",
    access: { scope: "keys:write" },
    tier: "other",
    summary: "Rename an API key",
    body: RenameKeyBody,
    example: { body: { name: "Shop, nightly jobs" } },
    response: changed("api_key"),
  },
  async ({ ctx, params, body }) => {
    const { id } = await renameKey(ctx, requireId(params, "id"), body.name);
    return { body: { object: "api_key", id } } as const;
  },
);

export const deleteOneKey = withApi(
  {
    method: "DELETE",
    path: "/api/api-keys/{id}",
    access: { scope: "keys:write" },
    tier: "other",
    summary: "Revoke an API key immediately",
    response: deleted("api_key"),
  },
  async ({ ctx, params }) => {
    const { id } = await revokeKey(ctx, requireId(params, "id"));
    return { body: { object: "api_key", id, deleted: true } } as const;
  },
);

export const postKeyRotate = withApi(
  {
    method: "POST",
    path: "/api/api-keys/{id}/rotate",
    access: { scope: "keys:write" },
    tier: "other",
    summary: "Rotate an API key; the old token remains valid for `overlap_seconds`",
    status: 201,
    body: RotateKeyBody,
    bodyForm: "optional",
    example: { body: { overlap_seconds: 3600 } },
    response: z.object({
      object: z.literal("api_key"),
      id: Id,
      token: Token,
      rotated_from: Id,
      previous_expires_at: Time,
    }),
    errors: ["conflict"],
  },
  async ({ ctx, params, body }) => {
    const rotatedFrom = requireId(params, "id");
    const { key, token, previousUntil } = await rotateKey(ctx, rotatedFrom, body);
    return {
      body: {
        object: "api_key" as const,
        id: key.id,
        token,
        rotated_from: rotatedFrom,
        previous_expires_at: previousUntil.toISOString(),
      },
    };
  },
);

const linkRoute = (method: "PUT" | "DELETE") =>
  withApi(
    {
      method,
      path: "/api/api-keys/{id}/domains/{domain_id}",
      access: { scope: "keys:write" },
      tier: "other",
      summary: `${method === "PUT" ? "Link an API key to" : "Unlink an API key from"} a domain that the calling key may send from`,
      response: z.object({
        object: z.literal("api_key_domain"),
        id: Id,
        domain_id: Id,
        linked: z.literal(method === "PUT"),
      }),
      errors: ["conflict"],
    },
    async ({ ctx, params }) => {
      const [keyId, domainId] = [requireId(params, "id"), requireId(params, "domain_id")];
      const linked = method === "PUT";
      await setLink(ctx, { keyId, domainId }, linked);
      return { body: { object: "api_key_domain", id: keyId, domain_id: domainId, linked } } as const;
    },
  );

export const putKeyDomain = linkRoute("PUT");
export const deleteKeyDomain = linkRoute("DELETE");
