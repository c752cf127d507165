import { z } from "zod";
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  readSigningSecrets,
  updateWebhook,
} from "#server/services/webhooks/endpoints";
import { rotateSigningSecret } from "#server/services/webhooks/rotate";
import { listJson, PAGING, refuseTwoCursors } from "./query";
import { withApi } from "./route";
import { requireId } from "./validate";
import { changed, deleted, Id, listOf } from "./wire/shapes";
import { WebhookAnswer, WebhookSummaryAnswer, webhookJson, webhookSummaryJson } from "./wire/webhook";
import { CreateWebhookBody, UpdateWebhookBody } from "./wire/webhook-input";

const SecretAnswer = z.object({
  object: z.literal("webhook"),
  id: Id,
  signing_secret: z
    .string()
    .describe("`whsec_` and the key in Base64, as verifiers of Standard Webhooks want it."),
});

export const postWebhook = withApi(
  {
    method: "POST",
    path: "/api/webhooks",
    access: { scope: "webhooks:write" },
    tier: "other",
    summary: "Add an endpoint that is told of events",
    status: 201,
    body: CreateWebhookBody,
    example: {
      body: { endpoint: "https://example.com/hooks", events: ["email.delivered", "email.bounced"] },
    },
    answer: SecretAnswer,
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
    answer: listOf(WebhookSummaryAnswer),
  },
  async ({ ctx, query }) => {
    refuseTwoCursors(query);
    const { rows, hasMore } = await listWebhooks(ctx, query);
    return { body: listJson(rows.map(webhookSummaryJson), hasMore) };
  },
);

/** The signing secrets are in it for holders of `webhooks:write` alone. */
export const getOneWebhook = withApi(
  {
    method: "GET",
    path: "/api/webhooks/{id}",
    access: { scope: "webhooks:read" },
    tier: "other",
    summary: "Show an endpoint, and its signing secrets to who may change it",
    answer: WebhookAnswer,
  },
  async ({ ctx, params }) => {
    const id = requireId(params, "id");
    const webhook = await getWebhook(ctx, id);
    return { body: webhookJson(webhook, await readSigningSecrets(ctx, id)) };
  },
);

export const patchWebhook = withApi(
  {
    method: "PATCH",
    path: "/api/webhooks/{id}",
    access: { scope: "webhooks:write" },
    tier: "other",
    summary: "Change an endpoint's URL or events, or disable or enable it",
    body: UpdateWebhookBody,
    repeatsId: ["id", "webhook_id"],
    example: { body: { events: ["email.bounced", "email.complained"], status: "enabled" } },
    answer: changed("webhook"),
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
    summary: "Delete an endpoint and everything that waits for it",
    answer: deleted("webhook"),
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
    summary: "Give an endpoint a new signing secret; the one before signs beside it for a day",
    answer: SecretAnswer,
  },
  async ({ ctx, params }) => {
    const { id, signingSecret } = await rotateSigningSecret(ctx, requireId(params, "id"));
    return { body: { object: "webhook", id, signing_secret: signingSecret } } as const;
  },
);
