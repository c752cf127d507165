import { listQuery } from "#server/rest/pipeline/query";
import { validate } from "#server/rest/pipeline/validate";
import { SETTLINGS, settleEmail } from "#server/services/emails/change/change";
import { EMAIL_FILTER } from "#server/services/emails/read/filter";
import { scanEmails } from "#server/services/emails/read/list";
import { getEmail } from "#server/services/emails/read/read";
import { presentEmail, presentEmailSummary } from "#server/shared/wire/email";
import { asId, asText, wordOf } from "../arguments";
import { argument, definedOf, examples, inTeam, option, optionWithDefault, requiredOption } from "../command";
import { formatTable, listOutput, output } from "../terminal";

const id = argument("id of the email, as POST /api/emails returned it", asId);
const filter = (about: string) => option("value", about, asText);

export const emailCommands = {
  list: inTeam({
    about: "lists a team's emails, newest first",
    // The filters of `GET /api/emails` under the same names.
    params: {
      status: filter("with this status: queued, sent, delivered, bounced, failed, …"),
      recipient: filter("to this address, in any letter case"),
      sender: filter("from this address, in any letter case"),
      domain: filter("from this domain"),
      subject: filter("with these words, or words that begin with them, in the subject"),
      tag: filter("with this tag: name or name:value"),
      since: filter("accepted at or after this time, such as 2026-01-31T09:00:00Z"),
      until: filter("accepted at or before this time"),
      after: filter("next page: emails older than the email with this id"),
      limit: optionWithDefault("number", "maximum number of emails, 1 to 100", asText, "20"),
    },
    run: async (ctx, given) => {
      const query = validate(listQuery(EMAIL_FILTER), definedOf({ ...given, team: undefined }), "query");
      const { rows, hasMore, scannedTo } = await scanEmails(ctx, query);
      const next = scannedTo ?? (hasMore ? rows.at(-1)?.id : undefined);
      const output = listOutput(rows.map(presentEmailSummary), "No emails.", [
        "id",
        "created_at",
        "status",
        "from",
        "to",
        "subject",
      ]);
      return {
        ...output,
        json: {
          has_more: next !== undefined,
          ...(scannedTo !== null && { searched_to: scannedTo }),
          ...output.json,
        },
        notes: [
          ...(output.notes ?? []),
          ...(next === undefined ? [] : [`For older emails, add --after ${next}`]),
        ],
      };
    },
  }),

  show: inTeam({
    about: "shows one email: its recipients, SMTP replies with explanations, and the next attempts",
    params: { id },
    run: async (ctx, { id }) => {
      const json = presentEmail(await getEmail(ctx, id));
      const { html: _html, text: _text, events, ...fields } = json;
      return output(json, fields, "", "  Timeline", ...formatTable(events.map(timelineRow)));
    },
  }),

  settle: inTeam({
    about: "resolves deliveries on hold because their outcome is unknown",
    params: {
      id,
      as: requiredOption(
        "what",
        "retry: send again, possibly a duplicate; sent, failed: record as such",
        wordOf(SETTLINGS),
      ),
      recipient: option(
        "address",
        "only this recipient; repeatable (default: all with an unknown outcome)",
        (text, earlier: string[] = []) => [...earlier, text],
      ),
    },
    help: examples("email settle 0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d2 --as sent"),
    run: async (ctx, { id, as, recipient = null }) => {
      const settled = await settleEmail(ctx, id, { as, recipients: recipient });
      const done = as === "retry" ? "Queued again for" : `Recorded as ${as}:`;
      return output({ id, settled }, `${done} ${settled.join(", ")}.`);
    },
  }),
};

type Event = ReturnType<typeof presentEmail>["events"][number];

const timelineRow = ({ created_at, type, recipient, data: { attempt, reason, next_attempt_at } }: Event) => ({
  created_at,
  type,
  recipient,
  attempt,
  reason,
  next_attempt_at,
});
