import type { Command } from "commander";
import { count, eq } from "drizzle-orm";
import { memberships, type Role } from "#db/schema/teams";
import type { Ctx, Deps } from "#server/deps";
import { AppError } from "#server/errors";
import { resetFactors } from "#server/services/account/reset-factors";
import { HANDED_LINK_MINUTES, makeResetLink } from "#server/services/sign-in-by-mail";
import { createUser, findUser, setPassword } from "#server/services/users";
import { makePassword } from "../generated";
import { addJsonOption, addTeamOption, readName, readRole } from "./arguments";
import { withDatabase, withTeam } from "./session";
import { say, sayJson } from "./terminal";

type Options = { password?: string; name?: string; role?: Role; team?: string; json?: true };

type ResetOptions = { password?: string | true; json?: true };

/** `user create`, `user reset-password`, `user reset-second-step`. */
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
  addJsonOption(
    user
      .command("reset-password")
      .description("makes a link by which a person chooses another password; it needs no mail")
      .argument("<email>", "address that they sign in with")
      .option(
        "--password [password]",
        "sets this one at once instead, or one that is made and shown this once, and ends every session of theirs",
      ),
  )
    .addHelpText(
      "after",
      "\nExamples:\n  user reset-password ann@example.com\n  user reset-password ann@example.com --password",
    )
    .action(runReset);
  addJsonOption(
    user
      .command("reset-second-step")
      .description("takes the authenticator app and the passkeys off a person who lost them all")
      .argument("<email>", "address that they sign in with"),
  )
    .addHelpText("after", "\nExample:\n  user reset-second-step ann@example.com")
    .action(runResetSecondStep);
}

async function runResetSecondStep(email: string, { json }: { json?: true }): Promise<void> {
  await withDatabase(async ({ deps }) => {
    const user = await findUser(deps, email);
    if (!user) throw new AppError("not_found", `There is no user ${email}.`);
    await resetFactors(deps, user.id);
    if (json) return sayJson({ id: user.id, email: user.email });
    say(`${user.email} signs in by the first proof alone now, and is signed out everywhere.`);
    say("They can set up another app or passkey in the console, under Settings, Security.");
  });
}

async function runReset(email: string, options: ResetOptions): Promise<void> {
  await withDatabase(async ({ deps }) => {
    if (options.password === undefined) return tellLink(deps, email, options);
    const user = await findUser(deps, email);
    if (!user) throw new AppError("not_found", `There is no user ${email}.`);
    const made = options.password === true ? makePassword() : null;
    await setPassword(deps, { userId: user.id, password: made ?? String(options.password) });
    if (options.json)
      return sayJson({ id: user.id, email: user.email, ...(made === null ? {} : { password: made }) });
    say(`${user.email} has another password, and is signed out everywhere.`);
    if (made === null) return;
    say();
    say(`  Password  ${made}`);
    say();
    say("It is shown this once: only a hash of it is kept.");
  });
}

async function tellLink(deps: Deps, email: string, { json }: ResetOptions): Promise<void> {
  const { user, link } = await makeResetLink(deps, email);
  if (json) return sayJson({ id: user.id, email: user.email, link });
  say(`Hand this link to ${user.email}. It opens once, within ${HANDED_LINK_MINUTES} minutes:`);
  say();
  say(`  ${link}`);
  say();
  say("Until it is used nothing changes. A new password ends every session of theirs.");
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
