import { type Command, Option } from "commander";
import { validate } from "#server/rest/pipeline/validate";
import { emailJson, emailSummaryJson } from "#server/rest/wire/email";
import { EmailListQuery } from "#server/rest/wire/email-query";
import { settleEmail } from "#server/services/emails/change/settle";
import { scanEmails } from "#server/services/emails/read/list";
import { getEmail } from "#server/services/emails/read/read";
import { addJsonOption, addTeamOption, readId } from "./arguments";
import { describeEmail } from "./email-report";
import { withTeam } from "./session";
import { formatTime, printJson, printLine, printNote, printTable } from "./terminal";

type Options = { team?: string; json?: true };
type SettleOptions = Options & { as: "retry" | "sent"; recipient?: string[] };

type ListOptions = Options & { limit: string } & Partial<Record<(typeof FILTERS)[number][0], string>>;

/** The filters of `GET /api/emails` that the CLI offers, under the same names. */
const FILTERS = [
  ["status", "with this status: queued, sent, delivered, bounced, failed, …"],
  ["recipient", "to exactly this address"],
  ["sender", "from exactly this address"],
  ["subject", "with this text in the subject"],
  ["tag", "with this tag: name or name:value"],
  ["since", "accepted at or after this time, such as 2026-01-31T09:00:00Z"],
  ["until", "accepted at or before this time"],
  ["after", "next page: emails older than the email with this id"],
] as const;

/** `email list`, `email show`, `email settle`. */
export function addEmailCommands(program: Command): void {
  const email = program.command("email").description("emails and their deliveries");
  const list = email.command("list").description("lists a team's emails, newest first");
  for (const [name, meaning] of FILTERS) list.option(`--${name} <${name}>`, meaning);
  list.option("--limit <number>", "maximum number of emails, 1 to 100", "20");
  addJsonOption(addTeamOption(list))
    .addHelpText(
      "after",
      "\nExample:\n  email list --status bounced --since 2026-01-31T00:00:00Z --limit 100",
    )
    .action(runList);
  addJsonOption(
    addTeamOption(
      email
        .command("show")
        .description("shows one email: its recipients, SMTP replies with explanations, and the next attempts")
        .argument("<id>", "id of the email, as POST /api/emails returned it", readId),
    ),
  )
    .addHelpText(
      "after",
      "\nExamples:\n  email show 0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d2\n  email show 0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d2 --team Sales --json",
    )
    .action(async (id: string, options: Options) => {
      await withTeam(options.team, async (ctx) => {
        const found = emailJson(await getEmail(ctx, id));
        if (options.json) return printJson(found);
        for (const line of describeEmail(found, ctx.clock())) printLine(line);
      });
    });

  addJsonOption(
    addTeamOption(
      email
        .command("settle")
        .description("resolves deliveries on hold because their outcome is unknown")
        .argument("<id>", "id of the email", readId)
        .addOption(
          new Option("--as <what>", "retry: send again, possibly a duplicate; sent: record as sent")
            .choices(["retry", "sent"])
            .makeOptionMandatory(),
        )
        .option("--recipient <address...>", "only these recipients (default: all with an unknown outcome)"),
    ),
  )
    .addHelpText("after", "\nExample:\n  email settle 0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d2 --as sent")
    .action(async (id: string, { team, json, as, recipient }: SettleOptions) => {
      await withTeam(team, async (ctx) => {
        const settled = await settleEmail(ctx, id, { as, recipients: recipient ?? null });
        if (json) return printJson({ id, settled });
        printLine(`${as === "sent" ? "Recorded as sent to" : "Queued again for"} ${settled.join(", ")}.`);
      });
    });
}

async function runList({ team, json, ...given }: ListOptions): Promise<void> {
  const query = validate(EmailListQuery, given, "query");
  await withTeam(team, async (ctx) => {
    const { rows, hasMore, scannedTo } = await scanEmails(ctx, query);
    const next = scannedTo ?? (hasMore ? rows.at(-1)?.id : undefined);
    const data = rows.map(emailSummaryJson);
    if (json)
      return printJson({
        has_more: next !== undefined,
        ...(scannedTo !== null && { searched_to: scannedTo }),
        data,
      });
    if (data.length === 0) printNote("No emails.");
    else printEmails(data);
    if (next !== undefined) printNote(`For older emails, add --after ${next}`);
  });
}

function printEmails(data: ReturnType<typeof emailSummaryJson>[]): void {
  printTable(
    ["ID", "ACCEPTED", "STATUS", "FROM", "TO", "SUBJECT"],
    data.map(({ id, created_at, status, from, to, subject }) => [
      id,
      formatTime(new Date(created_at)),
      status,
      from,
      to.join(", "),
      subject,
    ]),
  );
}
