import { Option } from "commander";
import { EmailListQuery } from "#server/rest/emails/email-query";
import { validate } from "#server/rest/pipeline/validate";
import { SETTLINGS, type Settling, settleEmail } from "#server/services/emails/change/change";
import { scanEmails } from "#server/services/emails/read/list";
import { getEmail } from "#server/services/emails/read/read";
import { presentEmail, presentEmailSummary } from "#server/shared/wire/email";
import { readId } from "../arguments";
import { type AdminCommand, addToAll, examples, runInTeam, TEAM_OPTION } from "../command";
import { formatTable } from "../terminal";

type SettleOptions = { as: Settling; recipient?: string[] };
type ListOptions = { limit: string; team?: string; json?: true } & Partial<
  Record<(typeof FILTERS)[number][0], string>
>;

/** The filters of `GET /api/emails` that the CLI offers, under the same names. */
const FILTERS = [
  ["status", "with this status: queued, sent, delivered, bounced, failed, …"],
  ["recipient", "to this address, in any letter case"],
  ["sender", "from this address, in any letter case"],
  ["domain", "from this domain"],
  ["subject", "with these words, or words that begin with them, in the subject"],
  ["tag", "with this tag: name or name:value"],
  ["since", "accepted at or after this time, such as 2026-01-31T09:00:00Z"],
  ["until", "accepted at or before this time"],
  ["after", "next page: emails older than the email with this id"],
] as const;

/** `email list`, `email show`, `email settle`. */
export function addEmailCommands(program: AdminCommand): void {
  const email = program.command("email").description("emails and their deliveries");

  const list = email
    .command("list")
    .description("lists a team's emails, newest first")
    .option("--limit <number>", "maximum number of emails, 1 to 100", "20")
    .addHelpText(...examples("email list --status bounced --since 2026-01-31T00:00:00Z --limit 100"));
  runInTeam(list, async (ctx, _team, { team: _name, json: _json, ...given }: ListOptions) => {
    const query = validate(EmailListQuery, given, "query");
    const { rows, hasMore, scannedTo } = await scanEmails(ctx, query);
    const next = scannedTo ?? (hasMore ? rows.at(-1)?.id : undefined);
    const data = rows.map(presentEmailSummary);
    return {
      json: {
        has_more: next !== undefined,
        ...(scannedTo !== null && { searched_to: scannedTo }),
        data,
      },
      text: formatTable(
        data.map(({ id, created_at, status, from, to, subject }) => ({
          id,
          accepted: created_at,
          status,
          from,
          to,
          subject,
        })),
      ),
      notes: [
        ...(data.length === 0 ? ["No emails."] : []),
        ...(next === undefined ? [] : [`For older emails, add --after ${next}`]),
      ],
    };
  });
  for (const [name, meaning] of FILTERS) list.option(`--${name} <${name}>`, meaning);

  const show = email
    .command("show")
    .description("shows one email: its recipients, SMTP replies with explanations, and the next attempts")
    .argument("<id>", "id of the email, as POST /api/emails returned it", readId)
    .addHelpText(
      ...examples(
        "email show 0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d2",
        "email show 0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d2 --team Sales --json",
      ),
    );
  runInTeam(show, async (ctx, _team, id: string) => {
    const json = presentEmail(await getEmail(ctx, id));
    const { html: _html, text: _text, events, ...fields } = json;
    return { json, text: [fields, "", "  Timeline", ...formatTable(events.map(timelineRow))] };
  });

  const settle = email
    .command("settle")
    .description("resolves deliveries on hold because their outcome is unknown")
    .argument("<id>", "id of the email", readId)
    .addOption(
      new Option("--as <what>", "retry: send again, possibly a duplicate; sent, failed: record as such")
        .choices([...SETTLINGS])
        .makeOptionMandatory(),
    )
    .option("--recipient <address...>", "only these recipients (default: all with an unknown outcome)")
    .addHelpText(...examples("email settle 0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d2 --as sent"));
  runInTeam(settle, async (ctx, _team, id: string, { as, recipient }: SettleOptions) => {
    const settled = await settleEmail(ctx, id, { as, recipients: recipient ?? null });
    const done = as === "retry" ? "Queued again for" : `Recorded as ${as}:`;
    return { json: { id, settled }, text: [`${done} ${settled.join(", ")}.`] };
  });

  addToAll(email, TEAM_OPTION);
}

type Event = ReturnType<typeof presentEmail>["events"][number];

const timelineRow = ({ created_at, type, recipient, data: { attempt, reason, next_attempt_at } }: Event) => ({
  created_at,
  type,
  recipient,
  attempt,
  reason,
  next_attempt_at,
});
