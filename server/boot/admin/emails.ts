import type { Command } from "commander";
import { emailJson } from "#server/rest/wire/email";
import { getEmail } from "#server/services/emails/read";
import { addJsonOption, addTeamOption, readId } from "./arguments";
import { describeEmail } from "./email-report";
import { withTeam } from "./session";
import { say, sayJson } from "./terminal";

type Options = { team?: string; json?: true };

/** `email show`. */
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
}
