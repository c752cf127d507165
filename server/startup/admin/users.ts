import type { Command } from "commander";
import { count, eq } from "drizzle-orm";
import { memberships, type Role } from "#db/schema/teams";
import type { Ctx, Deps } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { resetFactors } from "#server/services/account/factors/reset-factors";
import { createResetLink, OPERATOR_LINK_MINUTES } from "#server/services/people/sign-in-by-email";
import { createUser, findUser, listUsers, setPassword } from "#server/services/people/users";
import { findTeam } from "#server/services/teams";
import { generatePassword } from "../install/generated";
import { addJsonOption, addTeamOption, readName, readRole } from "./arguments";
import { requirePublicUrl, withDatabase, withTeam } from "./session";
import { formatTime, printJson, printLine, printNote, printTable } from "./terminal";

type Options = { password?: string; name?: string; role?: Role; team?: string; json?: true };

type ResetOptions = { password?: string | true; json?: true };

/** `user create`, `user list`, `user reset-password`, `user reset-2fa`. */
export function addUserCommands(program: Command): void {
  const user = program.command("user").description("users of the console");
  addJsonOption(
    addTeamOption(
      user
        .command("create")
        .description("creates a user with a password")
        .argument("<email>", "email address of the user")
        .option("--password <password>", "12 to 256 characters (default: generated and shown only once)")
        .option("--name <name>", "display name", readName)
        .option(
          "--role <role>",
          "owner, admin, member or viewer (default: member; owner for a team's first user)",
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
      .command("list")
      .description("lists the users, oldest first")
      .option("--team <team>", "only members of this team, by id or name (default: all users)"),
  ).action(runList);
  addJsonOption(
    user
      .command("reset-password")
      .description("creates a password reset link and prints it instead of sending it by email")
      .argument("<email>", "email address of the user")
      .option(
        "--password [password]",
        "instead of a link, sets this password, or a generated one that is shown only once, and ends all sessions of the user",
      ),
  )
    .addHelpText(
      "after",
      "\nExamples:\n  user reset-password ann@example.com\n  user reset-password ann@example.com --password",
    )
    .action(runReset);
  addJsonOption(
    user
      .command("reset-2fa")
      .description("removes two-factor authentication (app and passkeys) from a user who lost access")
      .argument("<email>", "email address of the user"),
  )
    .addHelpText("after", "\nExample:\n  user reset-2fa ann@example.com")
    .action(runResetTwoFactor);
}

async function runList({ team, json }: { team?: string; json?: true }): Promise<void> {
  await withDatabase(async ({ deps }) => {
    const members = await listUsers(deps, team === undefined ? null : (await findTeam(deps, team)).id);
    if (json) {
      const data = members.map(({ lastSeenAt, createdAt, ...person }) => ({
        ...person,
        last_seen_at: lastSeenAt?.toISOString() ?? null,
        created_at: createdAt.toISOString(),
      }));
      return printJson({ data });
    }
    if (members.length === 0) return printNote("No users. Create one: user create --help");
    printTable(
      ["ID", "EMAIL", "NAME", "TEAMS", "LAST SEEN"],
      members.map(({ id, email, name, teams, lastSeenAt }) => [
        id,
        email,
        name ?? "",
        teams.map((each) => `${each.name} (${each.role})`).join(", "),
        lastSeenAt ? formatTime(lastSeenAt) : "never",
      ]),
    );
  });
}

async function runResetTwoFactor(email: string, { json }: { json?: true }): Promise<void> {
  await withDatabase(async ({ deps }) => {
    const user = await findUser(deps, email);
    if (!user) throw new AppError("not_found", `There is no user ${email}.`);
    await resetFactors(deps, user.id);
    if (json) return printJson({ id: user.id, email: user.email });
    printLine(`Removed two-factor authentication of ${user.email}. All sessions of the user have ended.`);
    printLine("The user can set it up again in the console, under Settings, Security.");
  });
}

async function runReset(email: string, options: ResetOptions): Promise<void> {
  await withDatabase(async (session) => {
    const { deps } = session;
    if (options.password === undefined) {
      requirePublicUrl(session);
      return printResetLink(deps, email, options);
    }
    const user = await findUser(deps, email);
    if (!user) throw new AppError("not_found", `There is no user ${email}.`);
    const made = options.password === true ? generatePassword() : null;
    await setPassword(deps, { userId: user.id, password: made ?? String(options.password) });
    if (options.json)
      return printJson({ id: user.id, email: user.email, ...(made === null ? {} : { password: made }) });
    printLine(`Changed the password of ${user.email}. All sessions of the user have ended.`);
    if (made === null) return;
    printLine();
    printLine(`  Password  ${made}`);
    printLine();
    printLine("The password is shown only once. Backstamp stores only its hash.");
  });
}

async function printResetLink(deps: Deps, email: string, { json }: ResetOptions): Promise<void> {
  const { user, link } = await createResetLink(deps, email);
  if (json) return printJson({ id: user.id, email: user.email, link });
  printLine(
    `Send this link to ${user.email}. It works once and expires in ${OPERATOR_LINK_MINUTES} minutes:`,
  );
  printLine();
  printLine(`  ${link}`);
  printLine();
  printLine("The current password stays valid until then. Setting a new one ends all sessions of the user.");
}

async function runCreate(email: string, options: Options): Promise<void> {
  await withTeam(options.team, async (ctx, team) => {
    const password = options.password ?? generatePassword();
    const role = options.role ?? ((await hasMembers(ctx)) ? "member" : "owner");
    const name = options.name === undefined ? {} : { name: options.name };
    const made = await createUser(ctx, { email, password, ...name, teamId: team.id, role });
    const generated = options.password === undefined ? { password } : {};
    if (options.json)
      return printJson({ id: made.id, email: made.email, role, team_id: team.id, ...generated });
    printLine(`Created user ${made.email}, ${role} of team ${team.name}.`);
    if (options.password !== undefined) return;
    printLine();
    printLine(`  Password  ${password}`);
    printLine();
    printLine("The password is shown only once. Backstamp stores only its hash.");
  });
}

async function hasMembers(ctx: Ctx): Promise<boolean> {
  const [found] = await ctx.db
    .select({ members: count() })
    .from(memberships)
    .where(eq(memberships.teamId, ctx.teamId));
  return (found?.members ?? 0) > 0;
}
