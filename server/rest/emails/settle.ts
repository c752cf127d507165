import { z } from "zod";
import { settleEmail } from "#server/services/emails/change/settle";
import { Id } from "#server/shared/wire/shapes";
import { withApi } from "../pipeline/route";
import { requireId } from "../pipeline/validate";
import { LINKED_DOMAINS_ONLY } from "../wire/reach";

export const postEmailSettle = withApi(
  {
    method: "POST",
    path: "/api/emails/{id}/settle",
    access: { scope: "emails:send" },
    tier: "other",
    summary: "Settle recipients with an unknown outcome",
    description: LINKED_DOMAINS_ONLY,
    body: z.strictObject({
      as: z
        .enum(["retry", "sent"], "Must be retry or sent.")
        .describe(
          "`retry` sends it again, which may create a duplicate. `sent` does not, which may lose the email.",
        ),
      recipients: z
        .array(z.string("Must be an address."), "Must be an array of addresses.")
        .min(1, "List at least one address, or omit the field for all.")
        .max(50, "At most 50.")
        .optional()
        .describe("The recipients to settle. Default: all with an unknown outcome."),
    }),
    example: { body: { as: "sent" } },
    response: z.object({
      object: z.literal("email"),
      id: Id,
      settled: z.array(z.string()).describe("The settled recipients."),
    }),
    errors: ["conflict"],
  },
  async ({ ctx, params, body }) => {
    const id = requireId(params, "id");
    const settled = await settleEmail(ctx, id, { as: body.as, recipients: body.recipients ?? null });
    return { body: { object: "email" as const, id, settled } };
  },
);
