import type { Command } from "commander";
import { count, eq } from "drizzle-orm";
import { memberships, type Role } from "#db/schema/teams";
import type { Ctx } from "#server/deps";
import { createUser } from "#server/services/users";
import { makePassword } from "../generated";
import { addJsonOption, addTeamOption, readName, readRole } from "./arguments";
import { withTeam } from "./session";
import { say, sayJson } from "./terminal";

type Options = { password?: string; name?: string; role?: Role; team?: string; json?: true };

/** `user create`. */
export function addUserCommands(program: Command): void {
  const user = program.command("user").description("people who sign in to the console");
  addJsonOption(
    addTeamOption(
      user
        .command("create")
        .description("makes a person who signs in by password")
        .argument("<email>", "address to sign in with")
        .option("--password <password>", "12 to 256 characters (default: one is made, and shown this once)")
        .option("--name <name>", "what to call them", readName)
        .option(
          "--role <role>",
          "owner, admin, member or viewer (default: member; owner for a team's first person)",
          readRole,
        ),
    ),
  )
    .addHelpText(
      "after",
      "\nExamples:\n  user create ann@example.com --role owner\n  user create ben@example.com --team Sales",
    )
    .action(runCreate);
}

async function runCreate(email: string, options: Options): Promise<void> {
  await withTeam(options.team, async (ctx, team) => {
    const password = options.password ?? makePassword();
    const role = options.role ?? ((await hasMembers(ctx)) ? "member" : "owner");
    const name = options.name === undefined ? {} : { name: options.name };
    const made = await createUser(ctx, { email, password, ...name, teamId: team.id, role });
    const generated = options.password === undefined ? { password } : {};
    if (options.json)
      return sayJson({ id: made.id, email: made.email, role, team_id: team.id, ...generated });
    say(`Made user ${made.email}, ${role} of team ${team.name}.`);
    if (options.password !== undefined) return;
    say();
    say(`  Password  ${password}`);
    say();
    say("The password is shown this once: only a hash of it is kept.");
  });
}

async function hasMembers(ctx: Ctx): Promise<boolean> {
  const [found] = await ctx.db
    .select({ members: count() })
    .from(memberships)
    .where(eq(memberships.teamId, ctx.teamId));
  return (found?.members ?? 0) > 0;
}
