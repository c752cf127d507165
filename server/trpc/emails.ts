import { z } from "zod";
import { EMAIL_STATUSES } from "#db/schema/emails";
import { listEmails } from "#server/services/emails/list";
import { getEmail } from "#server/services/emails/read";
import { nameKeys } from "#server/services/keys/names";
import { viewContent, viewEmail, viewEmailRow } from "./email-views";
import { inTeam, router } from "./init";

const Word = z
  .string()
  .trim()
  .max(320)
  .refine((text) => !text.includes("\0"), "must not hold NUL")
  .transform((text) => text || undefined);

const EmailList = z.object({
  status: z.enum(EMAIL_STATUSES).optional(),
  recipient: Word.optional(),
  subject: Word.optional(),
  /** Older, or newer, than this mail. */
  after: z.uuid().optional(),
  before: z.uuid().optional(),
});

const EmailId = z.object({ id: z.string().max(60) });
const pageRows = 25;

export const emailsRouter = router({
  list: inTeam("emails:read")
    .input(EmailList)
    .query(async ({ ctx, input: { team: _, ...filter } }) => {
      const { rows, hasMore } = await listEmails(ctx.service, { ...filter, limit: pageRows });
      const names = await nameKeys(
        ctx.service,
        rows.flatMap(({ apiKeyId }) => apiKeyId ?? []),
      );
      return { rows: rows.map((row) => viewEmailRow(row, names.get(row.apiKeyId ?? "") ?? null)), hasMore };
    }),
  get: inTeam("emails:read")
    .input(EmailId)
    .query(async ({ ctx, input }) => viewEmail(await getEmail(ctx.service, input.id))),
  content: inTeam("emails:read")
    .input(EmailId)
    .query(async ({ ctx, input }) => viewContent(await getEmail(ctx.service, input.id))),
  /** For the document of the message's own; pages never hold it. */
  html: inTeam("emails:read")
    .input(EmailId)
    .query(async ({ ctx, input }) => (await getEmail(ctx.service, input.id)).html),
});
