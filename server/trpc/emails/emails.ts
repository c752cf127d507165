import { z } from "zod";
import { timeOfId } from "#server/platform/ids";
import { listDelayCauses } from "#server/services/emails/change/delay-causes";
import { countRetryable } from "#server/services/emails/change/retry";
import { listFiles } from "#server/services/emails/read/files";
import { listFilterValues } from "#server/services/emails/read/filter-values";
import { scanEmails } from "#server/services/emails/read/list";
import { countSuppressed, getEmail } from "#server/services/emails/read/read";
import { findSendAgainFault, findSuppressedRecipients } from "#server/services/emails/send-again";
import { nameKeys } from "#server/services/keys/read";
import { listEmailEventDeliveries } from "#server/services/webhooks/events/email-deliveries";
import { CURSOR, inTeam, joined, pageRows, router } from "../init";
import { asCall, emailMutations, NEW_RECIPIENTS, retryCountMax } from "./changes";
import { FILTER, filterOf } from "./input";
import { viewContent, viewEmail, viewEmailEventDelivery, viewEmailRow } from "./views";

const filesShownMax = 100;

const EmailList = {
  ...FILTER,
  /** This email and older ones; keeps a page stable while new emails are accepted. */
  upTo: z.uuid().optional(),
  /** Only emails older, or newer, than this one. */
  ...CURSOR,
};
const EmailId = { id: z.string().max(60) };

export const emailsRouter = router({
  ...emailMutations,
  /** `scannedTo` is set if the search stopped before the end: the next search continues after it. */
  list: inTeam("emails:read", EmailList).query((call) =>
    joined(call, async (service) => {
      const { after, before, upTo, ...filter } = call.input;
      const query = {
        ...filterOf(filter, service.clock()),
        ...(upTo && { upTo }),
        ...(after && { after }),
        ...(before && { before }),
        limit: pageRows,
      };
      const { rows, hasMore, scannedTo } = await service.replica.run(service, (from) =>
        scanEmails(from, query),
      );
      const shared = rows.filter(({ to, cc, bcc }) => to.length + cc.length + bcc.length > 1);
      const [names, suppressed] = await Promise.all([
        nameKeys(
          service,
          rows.flatMap(({ apiKeyId }) => apiKeyId ?? []),
        ),
        countSuppressed(
          service,
          shared.map(({ id }) => id),
        ),
      ]);
      return {
        rows: rows.map((row) =>
          viewEmailRow(row, {
            keyName: names.get(row.apiKeyId ?? "") ?? null,
            suppressed: suppressed.get(row.id) ?? 0,
          }),
        ),
        hasMore,
        scannedTo: scannedTo === null ? null : { id: scannedTo, at: timeOfId(scannedTo).toISOString() },
      };
    }),
  ),
  /** The team's own values for the list filters, such as keys and domains. */
  choices: inTeam("emails:read").query(({ ctx }) => listFilterValues(ctx.service)),
  /** How many emails `retryMatching` would process. */
  countRetryable: inTeam("emails:read", { ...FILTER, acceptDuplicates: z.boolean() }).query(
    ({ ctx: { service }, input: { acceptDuplicates, ...filter } }) =>
      countRetryable(service, filterOf(filter, service.clock()), acceptDuplicates, retryCountMax),
  ),
  get: inTeam("emails:read", EmailId).query((call) =>
    joined(call, async (service) => {
      const { id } = call.input;
      const email = await getEmail(service, id);
      const [causes, files, sendAgainFault] = await Promise.all([
        listDelayCauses(service, id),
        listFiles(service, id, { limit: filesShownMax }),
        findSendAgainFault(service, email),
      ]);
      return viewEmail(email, { causes, files: files.rows, sendAgainFault });
    }),
  ),
  content: inTeam("emails:read", EmailId).query(async ({ ctx, input }) =>
    viewContent(await getEmail(ctx.service, input.id)),
  ),
  /** For the message's own document; pages never contain it. */
  html: inTeam("emails:read", EmailId).query(
    async ({ ctx, input }) => (await getEmail(ctx.service, input.id)).html,
  ),
  /** Recipients to whom a new email with this content would not be sent. */
  suppressedRecipients: inTeam("emails:send", { id: z.string().max(60), ...NEW_RECIPIENTS }).query(
    ({ ctx, input: { id, to, cc, bcc } }) =>
      findSuppressedRecipients(ctx.service, { id, recipients: { to, cc, bcc } }),
  ),
  /** The event deliveries of the email. `hasMore`: only the first ones are returned. */
  eventDeliveries: inTeam("webhooks:read", EmailId).query((call) =>
    joined(call, async (service) => {
      const { rows, hasMore } = await listEmailEventDeliveries(service, call.input.id);
      return { rows: rows.map(viewEmailEventDelivery), hasMore };
    }),
  ),
  /** The command that would send the same email. */
  asCall: inTeam("emails:read", EmailId).query(({ ctx, input }) =>
    asCall(ctx.service, ctx.deps.url, input.id),
  ),
});
