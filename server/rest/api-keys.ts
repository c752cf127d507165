import { z } from "zod";
import { createKey, renameKey, revokeKey } from "#server/services/keys/keys";
import { linkDomain, unlinkDomain } from "#server/services/keys/links";
import { pageKeys } from "#server/services/keys/page";
import { rotateKey } from "#server/services/keys/rotate";
import { listJson, PAGING_OF_WHOLE, refuseTwoCursors } from "./query";
import { withApi } from "./route";
import { requireId } from "./validate";
import { KeyAnswer, keyJson } from "./wire/key";
import { CreateKeyBody, RenameKeyBody, RotateKeyBody } from "./wire/key-input";
import { changed, deleted, Id, listOf, Time } from "./wire/shapes";

const Token = z.string().describe("The whole key. It is told here and never again.");
const linkOf = <L extends boolean>(linked: L) =>
  z.object({ object: z.literal("api_key_domain"), id: Id, domain_id: Id, linked: z.literal(linked) });

/** The token is told here and nowhere else. A key that would give more than it has gets the interface's 403. */
export const postKey = withApi(
  {
    method: "POST",
    path: "/api/api-keys",
    access: { scope: "keys:write" },
    tier: "other",
    summary: "Make an API key, with no more than the calling key has",
    status: 201,
    body: CreateKeyBody,
    example: { body: { name: "Shop", scopes: ["emails:send", "emails:read"] } },
    answer: z.object({ id: Id, token: Token }),
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
    summary: "List API keys, newest first, with their last use and recent refusals",
    query: z.strictObject(PAGING_OF_WHOLE),
    example: { query: { limit: "20" } },
    answer: listOf(KeyAnswer),
  },
  async ({ ctx, query }) => {
    refuseTwoCursors(query);
    const { rows, hasMore } = await pageKeys(ctx, query);
    return { body: listJson(rows.map(keyJson), hasMore) };
  },
);

export const patchKey = withApi(
  {
    method: "PATCH",
    path: "/api/api-keys/{id}",
    access: { scope: "keys:write" },
    tier: "other",
    summary: "Give an API key another name",
    body: RenameKeyBody,
    example: { body: { name: "Shop, nightly jobs" } },
    answer: changed("api_key"),
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
    summary: "Revoke an API key; it is refused within a second",
    answer: deleted("api_key"),
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
    summary: "Replace an API key; the old token works on for `overlap_seconds`",
    status: 201,
    body: RotateKeyBody,
    bodyForm: "optional",
    example: { body: { overlap_seconds: 3600 } },
    answer: z.object({
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

export const putKeyDomain = withApi(
  {
    method: "PUT",
    path: "/api/api-keys/{id}/domains/{domain_id}",
    access: { scope: "keys:write" },
    tier: "other",
    summary: "Let an API key send from a domain that the calling key has",
    answer: linkOf(true),
    errors: ["conflict"],
  },
  async ({ ctx, params }) => {
    const link = { keyId: requireId(params, "id"), domainId: requireId(params, "domain_id") };
    await linkDomain(ctx, link);
    return {
      body: { object: "api_key_domain", id: link.keyId, domain_id: link.domainId, linked: true },
    } as const;
  },
);

export const deleteKeyDomain = withApi(
  {
    method: "DELETE",
    path: "/api/api-keys/{id}/domains/{domain_id}",
    access: { scope: "keys:write" },
    tier: "other",
    summary: "End an API key's right to send from a domain that the calling key has",
    answer: linkOf(false),
    errors: ["conflict"],
  },
  async ({ ctx, params }) => {
    const link = { keyId: requireId(params, "id"), domainId: requireId(params, "domain_id") };
    await unlinkDomain(ctx, link);
    return {
      body: { object: "api_key_domain", id: link.keyId, domain_id: link.domainId, linked: false },
    } as const;
  },
);
