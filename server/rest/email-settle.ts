import { z } from "zod";
import { settleEmail } from "#server/services/emails/settle";
import { withApi } from "./route";
import { requireId } from "./validate";
import { Id } from "./wire/shapes";

export const postEmailSettle = withApi(
  {
    method: "POST",
    path: "/api/emails/{id}/settle",
    access: { scope: "emails:send" },
    tier: "other",
    summary: "Decide what becomes of recipients whose outcome is unknown",
    body: z.strictObject({
      as: z
        .enum(["retry", "sent"], "Must be retry or sent.")
        .describe("Send it again, which may double it; or leave it at that, which may lose it."),
      recipients: z
        .array(z.string("Must be an address."), "Must be an array of addresses.")
        .min(1, "Name at least one, or leave the field out for all.")
        .max(50, "At most 50.")
        .optional()
        .describe("Those of them whom it is about. Default: all that are unknown."),
    }),
    example: { body: { as: "sent" } },
    answer: z.object({
      object: z.literal("email"),
      id: Id,
      settled: z.array(z.string()).describe("The recipients for whom this was decided."),
    }),
    errors: ["conflict"],
  },
  async ({ ctx, params, body }) => {
    const id = requireId(params, "id");
    const settled = await settleEmail(ctx, id, { as: body.as, recipients: body.recipients ?? null });
    return { body: { object: "email" as const, id, settled } };
  },
);
