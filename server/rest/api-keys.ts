import { z } from "zod";
import { createKey, renameKey, revokeKey } from "#server/services/keys/keys";
import { setLink } from "#server/services/keys/links";
import { pageKeys } from "#server/services/keys/read";
import { rotateKey } from "#server/services/keys/rotate";
import { ApiKeyResponse, presentApiKey } from "#server/shared/wire/api-key";
import {
  changed,
  deleted,
  Id,
  listOf,
  presentChanged,
  presentDeleted,
  Time,
} from "#server/shared/wire/shapes";
import { listJson, listQuery } from "./pipeline/query";
import { withApi } from "./pipeline/route";
import { CreateKeyBody, RenameKeyBody, RotateKeyBody } from "./wire/key-input";

const Token = z
  .string()
  .describe("The complete key. Only this response contains it; it cannot be read again.");

export const keyRoutes = [
  /**
   * Only this response and that of a rotation contain a token. A key that requests more permissions than it has itself is
   * rejected with the 403 of the specification.
   */
  withApi(
    {
      route: "POST /api/api-keys",
      access: { scope: "keys:write" },
      summary: "Create an API key with at most the permissions of the calling key",
      status: 201,
      body: CreateKeyBody,
      example: { body: { name: "Shop", scopes: ["emails:send", "emails:read"] } },
      response: z.object({ id: Id, token: Token }),
    },
    async ({ ctx, body }) => {
      const { key, token } = await createKey(ctx, body);
      return { id: key.id, token };
    },
  ),
  withApi(
    {
      route: "GET /api/api-keys",
      access: { scope: "keys:read" },
      summary: "List API keys, newest first, with last use and recent rejected requests",
      query: listQuery({}, 100),
      example: { query: { limit: "20" } },
      response: listOf(ApiKeyResponse),
    },
    async ({ ctx, query }) => listJson(await pageKeys(ctx, query), presentApiKey),
  ),
  withApi(
    {
      route: "PATCH /api/api-keys/{id}",
      access: { scope: "keys:write" },
      summary: "Rename an API key",
      body: RenameKeyBody,
      example: { body: { name: "Shop, nightly jobs" } },
      response: changed("api_key"),
    },
    async ({ ctx, params, body }) => presentChanged("api_key", await renameKey(ctx, params.id, body.name)),
  ),
  withApi(
    {
      route: "DELETE /api/api-keys/{id}",
      access: { scope: "keys:write" },
      summary: "Revoke an API key immediately",
      response: deleted("api_key"),
    },
    async ({ ctx, params }) => presentDeleted("api_key", await revokeKey(ctx, params.id)),
  ),
  withApi(
    {
      route: "POST /api/api-keys/{id}/rotate",
      access: { scope: "keys:write" },
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
    async ({ ctx, params: { id }, body }) => {
      const { key, token, previousUntil } = await rotateKey(ctx, id, body);
      return {
        object: "api_key" as const,
        id: key.id,
        token,
        rotated_from: id,
        previous_expires_at: previousUntil.toISOString(),
      };
    },
  ),
  ...(["PUT", "DELETE"] as const).map((method) =>
    withApi(
      {
        route: `${method} /api/api-keys/{id}/domains/{domain_id}`,
        access: { scope: "keys:write" },
        summary: `${method === "PUT" ? "Link an API key to" : "Unlink an API key from"} a domain that the calling key may send from`,
        response: z.object({
          object: z.literal("api_key_domain"),
          id: Id,
          domain_id: Id,
          linked: z.literal(method === "PUT"),
        }),
        errors: ["conflict"],
      },
      async ({ ctx, params: { id, domain_id } }) => {
        const linked = method === "PUT";
        await setLink(ctx, { keyId: id, domainId: domain_id }, linked);
        return { object: "api_key_domain" as const, id, domain_id, linked };
      },
    ),
  ),
];
