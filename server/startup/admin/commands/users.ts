import { eq } from "drizzle-orm";
import { memberships, type Role } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { resetTwoFactor } from "#server/services/account/factors/two-factor";
import { createResetLink, OPERATOR_LINK_MINUTES } from "#server/services/people/sign-in-by-email";
import { createUser, findUser, listUsers, setPassword } from "#server/services/people/users";
import { findTeam } from "#server/services/teams";
import { generatePassword } from "../../install/generated";
import { OperatorError } from "../../launcher/operator-error";
import { readName, readRole } from "../arguments";
import { type AdminCommand, examples, runInDatabase, runInTeam, TEAM_OPTION } from "../command";
import { requirePublicUrl } from "../session";
import { listOutput, type Output, type Terminal } from "../terminal";

type CreateOptions = { password?: string | true; name?: string; role?: Role };

/** `user create`, `user list`, `user reset-password`, `user reset-2fa`. */
export function addUserCommands(program: AdminCommand): void {
  const user = program.command("user").description("users of the console");

  const create = user
    .command("create")
    .description("creates a user with a password")
    .argument(...EMAIL)
    .option(
      "--password [value]",
      "asks for the password, or reads it from standard input (default: generated and shown only once)",
    )
    .option("--name <name>", "display name", readName)
    .option(
      "--role <role>",
      "owner, admin, member or viewer (default: member; owner for a team's first user)",
      readRole,
    )
    .option(...TEAM_OPTION)
    .addHelpText(
      ...examples(
        "user create ann@example.com --role owner",
        "user create ben@example.com --team Sales",
        "user create ann@example.com --password < password.txt",
      ),
    );
  runInTeam(create, async (ctx, team, address: string, options: CreateOptions) => {
    const given = await readPassword(program.terminal, options.password);
    const password = given ?? generatePassword();
    const isInTeam = eq(memberships.teamId, ctx.teamId);
    const role = options.role ?? ((await ctx.db.$count(memberships, isInTeam)) > 0 ? "member" : "owner");
    const name = options.name === undefined ? {} : { name: options.name };
    const { id, email } = await createUser(ctx, {
      email: address,
      password,
      ...name,
      teamId: team.id,
      role,
    });
    const generated = given === null ? { password } : {};
    return {
      json: { id, email, role, team_id: team.id, ...generated },
      text: [`Created user ${email}, ${role} of team ${team.name}.`, ...passwordLines(generated)],
    };
  });

  const list = user
    .command("list")
    .description("lists the users, oldest first")
    .option("--team <team>", "only members of this team, by id or name (default: all users)");
  runInDatabase(list, async ({ deps }, { team }: { team?: string }) => {
    const users = await listUsers(deps, team === undefined ? null : (await findTeam(deps, team)).id);
    return listOutput(
      users.map(({ lastSeenAt, createdAt, ...person }) => ({
        ...person,
        last_seen_at: lastSeenAt,
        created_at: createdAt,
      })),
      ({ id, email, name, teams, last_seen_at }) => ({
        id,
        email,
        name,
        teams: teams.map((each) => `${each.name} (${each.role})`),
        last_seen: last_seen_at ?? "never",
      }),
      "No users. Create one: user create --help",
    );
  });

  const resetPassword = user
    .command("reset-password")
    .description("creates a password reset link and prints it instead of sending it by email")
    .argument(...EMAIL)
    .option(
      "--generate-password",
      "instead of a link, sets a password that is shown only once, and ends all sessions",
    )
    .option("--password [value]", "instead of a link, asks for a password, or reads it from standard input")
    .addHelpText(
      ...examples(
        "user reset-password ann@example.com",
        "user reset-password ann@example.com --generate-password",
      ),
    );
  type ResetOptions = { password?: string | true; generatePassword?: true };
  runInDatabase(resetPassword, async (session, address: string, options: ResetOptions) => {
    const given = await readPassword(program.terminal, options.password);
    if (given === null && !options.generatePassword) {
      requirePublicUrl(session);
      return createLink(session.deps, address);
    }
    const { id, email } = await requireUser(session.deps, address);
    const generated = given === null ? { password: generatePassword() } : {};
    await setPassword(session.deps, { userId: id, password: given ?? generated.password ?? "" });
    return {
      json: { id, email, ...generated },
      text: [
        `Changed the password of ${email}. All sessions of the user have ended.`,
        ...passwordLines(generated),
      ],
    };
  });

  const reset2fa = user
    .command("reset-2fa")
    .description("removes two-factor authentication (app and passkeys) from a user who lost access")
    .argument(...EMAIL)
    .addHelpText(...examples("user reset-2fa ann@example.com"));
  runInDatabase(reset2fa, async ({ deps }, given: string) => {
    const { id, email } = await requireUser(deps, given);
    await resetTwoFactor(deps, id);
    return {
      json: { id, email },
      text: [
        `Removed two-factor authentication of ${email}. All sessions of the user have ended.`,
        "The user can set it up again in the console, under Settings, Security.",
      ],
    };
  });
}

const EMAIL = ["<email>", "email address of the user"] as const;

/** Null without the option. Never from the command line: the process list shows it to every user. */
async function readPassword(
  { askSecret, readInput }: Terminal,
  option: string | true | undefined,
): Promise<string | null> {
  if (option === undefined) return null;
  if (option !== true)
    throw new OperatorError(
      "A password on the command line is visible in the process list. Use --password without a value, and enter the password when asked, or send it to standard input.",
    );
  if (!askSecret) return (await readInput()).split(/\r?\n/, 1)[0] ?? "";
  const first = await askSecret("Password, 12 to 256 characters: ");
  if ((await askSecret("Repeat the password: ")) !== first)
    throw new OperatorError("The two passwords differ. Run the command again.");
  return first;
}

/** The lines that show a generated password; none for a given one. */
const passwordLines = (generated: { password?: string }): (string | object)[] =>
  generated.password === undefined
    ? []
    : [generated, "The password is shown only once. Backstamp stores only its hash."];

async function requireUser(deps: Deps, email: string) {
  const user = await findUser(deps, email);
  if (!user) throw new AppError("not_found", `There is no user ${email}.`);
  return user;
}

async function createLink(deps: Deps, given: string): Promise<Output> {
  const {
    user: { id, email },
    link,
  } = await createResetLink(deps, given);
  return {
    json: { id, email, link },
    text: [
      `Send this link to ${email}. It works once and expires in ${OPERATOR_LINK_MINUTES} minutes:`,
      `  ${link}`,
      "The current password stays valid until then. Setting a new one ends all sessions of the user.",
    ],
  };
}
