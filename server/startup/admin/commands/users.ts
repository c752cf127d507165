import { eq } from "drizzle-orm";
import { memberships, ROLES } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { resetTwoFactor } from "#server/services/account/factors/two-factor";
import { createResetLink, OPERATOR_LINK_MINUTES } from "#server/services/account/sign-in/sign-in-by-email";
import { createUser, findUser, listUsers, setPassword } from "#server/services/people/users";
import { findTeam } from "#server/services/teams";
import { presentRow } from "#server/shared/wire/shapes";
import { generatePassword } from "../../install/generated";
import { OperatorError } from "../../launcher/operator-error";
import { asName, asText, wordOf } from "../arguments";
import { argument, definedOf, flag, inDatabase, inTeam, option } from "../command";
import { requirePublicUrl } from "../session";
import { listOutput, output, type Terminal } from "../terminal";

const email = argument("email address of the user", asText);

export const userCommands = {
  create: inTeam({
    about: "creates a user with a password",
    params: {
      email,
      password: flag("asks for the password, or reads it from standard input (default: generated)"),
      name: option("name", "display name", asName),
      role: option(
        "role",
        `${ROLES.join(", ")} (default: member; owner for a team's first user)`,
        wordOf(ROLES),
      ),
    },
    run: async (ctx, { email: address, password: isGiven, name, role: given }, team, terminal) => {
      const password = isGiven ? await readPassword(terminal) : generatePassword();
      const isInTeam = eq(memberships.teamId, ctx.teamId);
      const role = given ?? ((await ctx.db.$count(memberships, isInTeam)) > 0 ? "member" : "owner");
      const { id, email } = await createUser(ctx, {
        email: address,
        password,
        ...definedOf({ name }),
        teamId: team.id,
        role,
      });
      const generated = isGiven ? {} : { password };
      return output(
        { id, email, role, team_id: team.id, ...generated },
        `Created user ${email}, ${role} of team ${team.name}.`,
        ...passwordLines(generated),
      );
    },
  }),

  list: inDatabase({
    about: "lists the users, oldest first",
    params: { team: option("team", "only members of this team, by id or name (default: all users)", asText) },
    run: async ({ deps }, { team }) => {
      const users = await listUsers(deps, team === undefined ? null : (await findTeam(deps, team)).id);
      return listOutput(
        users.map(presentRow),
        "No users. Create one: user create --help",
        ({ id, email, name, teams, last_seen_at }) => ({
          id,
          email,
          name,
          teams: teams.map((each) => `${each.name} (${each.role})`),
          last_seen: last_seen_at ?? "never",
        }),
      );
    },
  }),

  "reset-password": inDatabase({
    about: "creates a password reset link and prints it instead of sending it by email",
    params: {
      email,
      generatePassword: flag("instead of a link, sets a password that is shown only once"),
      password: flag("instead of a link, asks for a password, or reads it from standard input"),
    },
    run: async (session, { email: given, generatePassword: isGenerated, password: isGiven }, terminal) => {
      const { deps } = session;
      if (!isGiven && !isGenerated) {
        requirePublicUrl(session);
        const { user, link } = await createResetLink(deps, given);
        return output(
          { id: user.id, email: user.email, link },
          `Send this link to ${user.email}. It works once and expires in ${OPERATOR_LINK_MINUTES} minutes:`,
          `  ${link}`,
          "The current password stays valid until then. Setting a new one ends all sessions of the user.",
        );
      }
      const { id, email } = await requireUser(deps, given);
      const password = isGiven ? await readPassword(terminal) : generatePassword();
      await setPassword(deps, { userId: id, password });
      const generated = isGiven ? {} : { password };
      return output(
        { id, email, ...generated },
        `Changed the password of ${email}. All sessions of the user have ended.`,
        ...passwordLines(generated),
      );
    },
  }),

  "reset-2fa": inDatabase({
    about: "removes two-factor authentication (app and passkeys) from a user who lost access",
    params: { email },
    run: async ({ deps }, { email: given }) => {
      const { id, email } = await requireUser(deps, given);
      await resetTwoFactor(deps, id);
      return output(
        { id, email },
        `Removed two-factor authentication of ${email}. All sessions of the user have ended.`,
        "The user can set it up again in the console, under Settings, Security.",
      );
    },
  }),
};

/** Never from the command line, because the process list shows it to every user of the machine. */
async function readPassword({ askSecret, readInput }: Terminal): Promise<string> {
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
