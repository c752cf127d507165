import type { Ctx } from "#server/deps";
import { type CsvColumn, writeCsv } from "#server/platform/http/csv";
import { formatTag } from "#server/shared/email-words";
import type { EmailSummary } from "#server/shared/wire/email";
import { nameKeys } from "../../keys/read";
import type { EmailFilter } from "./filter";
import { listEmails } from "./list";

const batchRows = 500;

type Exported = EmailSummary & { keyName: string | null };

const COLUMNS: readonly CsvColumn<Exported>[] = [
  { name: "id", of: ({ id }) => id },
  { name: "created_at", of: ({ createdAt }) => createdAt },
  { name: "status", of: ({ status }) => status },
  { name: "from", of: ({ sender }) => sender },
  { name: "to", of: ({ to }) => to.join(", ") },
  { name: "cc", of: ({ cc }) => cc.join(", ") },
  { name: "bcc", of: ({ bcc }) => bcc.join(", ") },
  { name: "subject", of: ({ subject }) => subject },
  { name: "tags", of: ({ tags }) => tags.map(formatTag).join(" ") },
  { name: "key", of: ({ keyName }) => keyName },
  { name: "scheduled_at", of: ({ scheduledAt }) => scheduledAt },
  { name: "message_id", of: ({ messageId }) => messageId },
];

/**
 * The emails that a filter finds, as CSV, newest first, in batches as they are consumed: memory holds one
 * batch, independent of the total. Emails accepted meanwhile are not included.
 */
export const exportEmails = (ctx: Ctx, filter: EmailFilter): AsyncGenerator<string> =>
  writeCsv(COLUMNS, batchesOf(ctx, filter));

async function* batchesOf(ctx: Ctx, filter: EmailFilter): AsyncGenerator<Exported[]> {
  let after: string | undefined;
  do {
    const cursor = after === undefined ? {} : { after };
    const query = { ...filter, ...cursor, limit: batchRows };
    const { rows, hasMore } = await ctx.replica.run(ctx, (from) => listEmails(from, query));
    const names = await nameKeys(
      ctx,
      rows.flatMap(({ apiKeyId }) => apiKeyId ?? []),
    );
    yield rows.map((row) => ({ ...row, keyName: names.get(row.apiKeyId ?? "") ?? null }));
    after = hasMore ? rows.at(-1)?.id : undefined;
  } while (after !== undefined);
}
