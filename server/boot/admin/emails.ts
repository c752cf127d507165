import { type Command, Option } from "commander";
import { emailJson } from "#server/rest/wire/email";
import { getEmail } from "#server/services/emails/read";
import { settleEmail } from "#server/services/emails/settle";
import { addJsonOption, addTeamOption, readId } from "./arguments";
import { describeEmail } from "./email-report";
import { withTeam } from "./session";
import { say, sayJson } from "./terminal";

type Options = { team?: string; json?: true };
type SettleOptions = Options & { as: "retry" | "sent"; recipient?: string[] };

/** `email show`, `email settle`. */
export function addEmailCommands(program: Command): void {
  const email = program.command("email").description("mails, and what became of them");
  addJsonOption(
    addTeamOption(
      email
        .command("show")
        .description("shows one mail: each recipient's fate, the replies and what they mean, what comes next")
        .argument("<id>", "the mail's id, as POST /api/emails answered it", readId),
    ),
  )
    .addHelpText(
      "after",
      "\nExamples:\n  email show 0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d2\n  email show 0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d2 --team Sales --json",
    )
    .action(async (id: string, options: Options) => {
      await withTeam(options.team, async (ctx) => {
        const found = emailJson(await getEmail(ctx, id));
        if (options.json) return sayJson(found);
        for (const line of describeEmail(found, ctx.clock())) say(line);
      });
    });

  addJsonOption(
    addTeamOption(
      email
        .command("settle")
        .description("decides what becomes of recipients whose outcome is unknown and held")
        .argument("<id>", "the mail's id", readId)
        .addOption(
          new Option("--as <what>", "retry: send it again, which may double it; sent: leave it at that")
            .choices(["retry", "sent"])
            .makeOptionMandatory(),
        )
        .option("--recipient <address...>", "only for these recipients; default: all that are unknown"),
    ),
  )
    .addHelpText("after", "\nExample:\n  email settle 0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d2 --as sent")
    .action(async (id: string, { team, json, as, recipient }: SettleOptions) => {
      await withTeam(team, async (ctx) => {
        const settled = await settleEmail(ctx, id, { as, recipients: recipient ?? null });
        if (json) return sayJson({ id, settled });
        say(`${as === "sent" ? "Taken as sent to" : "Is sent again to"} ${settled.join(", ")}.`);
      });
    });
}
