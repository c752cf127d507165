import { z } from "zod";
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  readSigningSecrets,
  rotateSigningSecret,
  updateWebhook,
} from "#server/services/webhooks/endpoints";
import { changed, deleted, Id, listOf } from "#server/shared/wire/shapes";
import {
  presentWebhook,
  presentWebhookDetail,
  WebhookResponse,
  WebhookSummaryResponse,
} from "#server/shared/wire/webhook";
import { listJson, PAGING, rejectTwoCursors } from "../pipeline/query";
import { withApi } from "../pipeline/route";
import { requireId } from "../pipeline/validate";
import { CreateWebhookBody, UpdateWebhookBody } from "../wire/webhook-input";

const SecretResponse = z.object({
  object: z.literal("webhook"),
  id: Id,
  signing_secret: z
    .string()
    .describe("`whsec_` followed by the key in Base64, as Standard Webhooks libraries expect it."),
});

export const postWebhook = withApi(
  {
    method: "POST",
    path: "/api/webhooks",
    access: { scope: "webhooks:write" },
    tier: "other",
    summary: "Create an endpoint that receives events",
    status: 201,
    body: CreateWebhookBody,
    example: {
      body: { endpoint: "https://example.com/hooks", events: ["email.delivered", "email.bounced"] },
    },
    response: SecretResponse,
    errors: ["conflict"],
  },
  async ({ ctx, body }) => {
    const { id, signingSecret } = await createWebhook(ctx, body);
    return { body: { object: "webhook", id, signing_secret: signingSecret } } as const;
  },
);

export const getWebhooks = withApi(
  {
    method: "GET",
    path: "/api/webhooks",
    access: { scope: "webhooks:read" },
    tier: "other",
    summary: "List endpoints, newest first",
    query: z.strictObject(PAGING),
    example: { query: { limit: "20" } },
    response: listOf(WebhookSummaryResponse),
  },
  async ({ ctx, query }) => {
    rejectTwoCursors(query);
    const { rows, hasMore } = await listWebhooks(ctx, query);
    return { body: listJson(rows.map(presentWebhook), hasMore) };
  },
);

/** The response contains the signing secrets only if the key has the scope `webhooks:write`. */
export const getOneWebhook = withApi(
  {
    method: "GET",
    path: "/api/webhooks/{id}",
    access: { scope: "webhooks:read" },
    tier: "other",
    summary: "Get an endpoint; a key with `webhooks:write` also gets its signing secrets",
    response: WebhookResponse,
  },
  async ({ ctx, params }) => {
    const id = requireId(params, "id");
    const webhook = await getWebhook(ctx, id);
    return { body: presentWebhookDetail(webhook, await readSigningSecrets(ctx, id)) };
  },
);

export const patchWebhook = withApi(
  {
    method: "PATCH",
    path: "/api/webhooks/{id}",
    access: { scope: "webhooks:write" },
    tier: "other",
    summary: "Update an endpoint's URL or events, or enable or disable it",
    body: UpdateWebhookBody,
    repeatsId: ["id", "webhook_id"],
    example: { body: { events: ["email.bounced", "email.complained"], status: "enabled" } },
    response: changed("webhook"),
  },
  async ({ ctx, params, body }) => {
    const { id } = await updateWebhook(ctx, requireId(params, "id"), body);
    return { body: { object: "webhook", id } } as const;
  },
);

export const deleteOneWebhook = withApi(
  {
    method: "DELETE",
    path: "/api/webhooks/{id}",
    access: { scope: "webhooks:write" },
    tier: "other",
    summary: "Delete an endpoint and its pending event deliveries",
    response: deleted("webhook"),
  },
  async ({ ctx, params }) => {
    const { id } = await deleteWebhook(ctx, requireId(params, "id"));
    return { body: { object: "webhook", id, deleted: true } } as const;
  },
);

export const postWebhookRotation = withApi(
  {
    method: "POST",
    path: "/api/webhooks/{id}/signing-secret/rotate",
    access: { scope: "webhooks:write" },
    tier: "other",
    summary: "Rotate an endpoint's signing secret; events are signed with both secrets for one day",
    response: SecretResponse,
  },
  async ({ ctx, params }) => {
    const { id, signingSecret } = await rotateSigningSecret(ctx, requireId(params, "id"));
    return { body: { object: "webhook", id, signing_secret: signingSecret } } as const;
  },
);
