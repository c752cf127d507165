import { ROLES, type Role } from "#db/schema/teams";
import type { Ctx } from "#server/deps";
import { createTeam } from "#server/services/teams";
import { type Console, cookiesOf } from "./console";

/** The result of a procedure call, as its caller gets it. */
export type CallResult = { ok: true; data: unknown } | { ok: false; code: string; message: string };

/** A team with one signed-in user in each role. */
export type RoleTeam = {
  teamId: string;
  /** The context of the operator for this team, to create rows. */
  ctx: Ctx;
  /**
   * Calls a procedure by name as the user with that role, for this team unless the input names another one.
   */
  call(role: Role, procedure: string, input: object): Promise<CallResult>;
  userIds: Record<Role, string>;
};

/** Creates a team with one user in each role. */
export async function createRoleTeam(console: Console, name: string): Promise<RoleTeam> {
  const team = await createTeam(console.deps, { name });
  const people = await Promise.all(
    ROLES.map(async (role) => {
      const { id } = await console.person({ teamId: team.id, role });
      const session = await console.session(id);
      return { role, userId: id, cookies: await cookiesOf(session.id) };
    }),
  );
  const ofRole = (role: Role) => {
    const person = people.find((each) => each.role === role);
    if (!person) throw new Error(`no user has the role ${role}`);
    return person;
  };
  return {
    teamId: team.id,
    ctx: { ...console.world.ctx, teamId: team.id },
    userIds: Object.fromEntries(people.map(({ role, userId }) => [role, userId])) as Record<Role, string>,
    call: async (role, procedure, input) => {
      const caller = console.callerOf(ofRole(role).cookies);
      const run = procedure
        .split(".")
        .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], caller) as (
        input: object,
      ) => Promise<unknown>;
      return run({ team: team.id, ...input }).then(
        (data) => ({ ok: true as const, data }),
        (error) => ({ ok: false as const, code: String(error.code), message: String(error.message) }),
      );
    },
  };
}
