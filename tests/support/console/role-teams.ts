import { ROLES, type Role } from "#db/schema/teams";
import type { Ctx } from "#server/deps";
import { createTeam } from "#server/services/teams";
import { type Console, cookiesOf } from "./console";

/** What a call came to, as a caller hears it. */
export type CallResult = { ok: true; data: unknown } | { ok: false; code: string; message: string };

/** A team with a person in every role, each of them signed in. */
export type RoleTeam = {
  teamId: string;
  /** As the operator of the team, to make rows. */
  ctx: Ctx;
  /** Calls a procedure by its name as the person in that role, about this team where the input names no other. */
  call(role: Role, procedure: string, input: object): Promise<CallResult>;
  userIds: Record<Role, string>;
};

/** Makes a team with one person in each role. */
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
    if (!person) throw new Error(`nobody is ${role}`);
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
