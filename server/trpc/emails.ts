import { z } from "zod";
import { timeOfId } from "#server/ids";
import { listChoices } from "#server/services/emails/choices";
import { listFiles } from "#server/services/emails/files";
import { readHolds } from "#server/services/emails/holds";
import { lookForEmails } from "#server/services/emails/list";
import { getEmail } from "#server/services/emails/read";
import { countRetryable } from "#server/services/emails/retry";
import { nameKeys } from "#server/services/keys/names";
import { listToldEvents } from "#server/services/webhooks/of-email";
import { asCall, emailActs, retryCountMax } from "./email-acts";
import { FILTER, filterOf } from "./email-input";
import { viewContent, viewEmail, viewEmailRow, viewTold } from "./email-views";
import { inTeam, router } from "./init";
import { NoMore, strictInput } from "./strict";

const pageRows = 25;
const filesShownMax = 100;

const EmailList = strictInput({
  ...FILTER,
  /** This mail and older ones: the page of somebody who reads while more come. */
  upTo: z.uuid().optional(),
  /** Older, or newer, than this mail. */
  after: z.uuid().optional(),
  before: z.uuid().optional(),
});
const EmailId = strictInput({ id: z.string().max(60) });

export const emailsRouter = router({
  ...emailActs,
  /** `lookedTo` is set where not all mail was looked through: the next look begins behind it. */
  list: inTeam("emails:read")
    .input(EmailList)
    .query(async ({ ctx: { service }, input: { after, before, upTo, ...filter } }) => {
      const { rows, hasMore, lookedTo } = await lookForEmails(service, {
        ...filterOf(filter, service.clock()),
        ...(upTo && { upTo }),
        ...(after && { after }),
        ...(before && { before }),
        limit: pageRows,
      });
      const names = await nameKeys(
        service,
        rows.flatMap(({ apiKeyId }) => apiKeyId ?? []),
      );
      return {
        rows: rows.map((row) => viewEmailRow(row, names.get(row.apiKeyId ?? "") ?? null)),
        hasMore,
        lookedTo: lookedTo === null ? null : { id: lookedTo, at: timeOfId(lookedTo).toISOString() },
      };
    }),
  /** What the list can be narrowed by that the team has made itself. */
  choices: inTeam("emails:read")
    .input(NoMore)
    .query(({ ctx }) => listChoices(ctx.service)),
  /** How many mails `retryMatching` would walk through. */
  countRetryable: inTeam("emails:read")
    .input(strictInput({ ...FILTER, acceptDuplicates: z.boolean() }))
    .query(({ ctx: { service }, input: { acceptDuplicates, ...filter } }) =>
      countRetryable(service, filterOf(filter, service.clock()), acceptDuplicates, retryCountMax),
    ),
  get: inTeam("emails:read")
    .input(EmailId)
    .query(async ({ ctx: { service }, input: { id } }) => {
      const email = await getEmail(service, id);
      const [holds, files] = await Promise.all([
        readHolds(service, id),
        listFiles(service, id, { limit: filesShownMax }),
      ]);
      return viewEmail(email, holds, files.rows);
    }),
  content: inTeam("emails:read")
    .input(EmailId)
    .query(async ({ ctx, input }) => viewContent(await getEmail(ctx.service, input.id))),
  /** For the document of the message's own; pages never hold it. */
  html: inTeam("emails:read")
    .input(EmailId)
    .query(async ({ ctx, input }) => (await getEmail(ctx.service, input.id)).html),
  /** Whom its events were told. */
  told: inTeam("webhooks:read")
    .input(EmailId)
    .query(async ({ ctx, input }) => (await listToldEvents(ctx.service, input.id)).map(viewTold)),
  /** The command that would send the same mail. */
  asCall: inTeam("emails:read")
    .input(EmailId)
    .query(({ ctx, input }) => asCall(ctx.service, ctx.deps.url, input.id)),
});
