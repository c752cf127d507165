import { and, eq, like, sql } from "drizzle-orm";
import { auditLog } from "#db/schema/audit";
import { memberships, ROLES, type Role, sessions, users } from "#db/schema/teams";
import type { Cookies } from "#server/auth/cookies";
import type { Ctx } from "#server/deps";
import { newId } from "#server/platform/ids";
import { createTeam } from "#server/services/teams";
import { type Console, cookiesOf } from "./console";

/** What each role may do besides what the one below it may, written down apart from the product. */
const PERMISSIONS: Record<Role, string> = {
  viewer:
    "emails:read templates:read domains:read keys:read webhooks:read suppressions:read events:read usage:read team:read",
  member: "emails:send templates:write suppressions:write logs:read",
  admin: "domains:write keys:write webhooks:write team:write members:write audit:read people:write",
  owner: "owners:write",
};

/** Whether a role may call what requires this permission. */
export const isPermitted = (role: Role, permission: string): boolean =>
  ROLES.slice(ROLES.indexOf(role)).some((each) => PERMISSIONS[each].split(" ").includes(permission));

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
  /** Like `call`, for a call that must succeed: returns its data. */
  data<Data>(role: Role, procedure: string, input?: object): Promise<Data>;
  userIds: Record<Role, string>;
  cookies(role: Role): Promise<Cookies>;
  /** The audit log of the team, oldest first: of one subject, or of actions that begin with this word. */
  audit(of?: { subject?: string; action?: string }): Promise<AuditEntry[]>;
};

type AuditEntry = Pick<
  typeof auditLog.$inferSelect,
  "action" | "actor" | "actorId" | "subjectId" | "subjectName" | "detail"
>;

/** Creates a team with one signed-in user in each role. */
export async function createRoleTeam(console: Console, name: string): Promise<RoleTeam> {
  const team = await createTeam(console.deps, { name });
  const { db } = console.deps;
  const people = ROLES.map((role) => ({ role, userId: newId(), sessionId: newId() }));
  await db.insert(users).values(
    people.map(({ role, userId }) => ({
      id: userId,
      email: `${role}-${userId}@example.org`,
      passwordHash: console.passwordHash,
      addressVerifiedAt: new Date(),
    })),
  );
  await db.insert(memberships).values(people.map(({ role, userId }) => ({ teamId: team.id, role, userId })));
  const expiresAt = sql`now() + interval '1 day'`;
  await db.insert(sessions).values(people.map(({ userId, sessionId: id }) => ({ id, userId, expiresAt })));
  const userIds = Object.fromEntries(people.map(({ role, userId }) => [role, userId])) as Record<
    Role,
    string
  >;
  const known: Partial<Record<Role, Promise<Cookies>>> = {};
  const cookies = (role: Role) => {
    known[role] ??= cookiesOf(people.find((person) => person.role === role)?.sessionId ?? "");
    return known[role];
  };
  const call: RoleTeam["call"] = async (role, procedure, input) => {
    const caller = console.callerOf(await cookies(role));
    const run = procedure
      .split(".")
      .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], caller) as (
      input: object,
    ) => Promise<unknown>;
    return run({ team: team.id, ...input }).then(
      (data) => ({ ok: true as const, data }),
      (error) => ({ ok: false as const, code: String(error.code), message: String(error.message) }),
    );
  };
  return {
    teamId: team.id,
    ctx: { ...console.world.ctx, teamId: team.id },
    userIds,
    call,
    cookies,
    audit: ({ subject, action = "" } = {}) =>
      db
        .select()
        .from(auditLog)
        .where(
          and(
            eq(auditLog.teamId, team.id),
            like(auditLog.action, `${action}%`),
            subject === undefined ? undefined : eq(auditLog.subjectId, subject),
          ),
        )
        .orderBy(auditLog.id),
    data: async <Data>(role: Role, procedure: string, input: object = {}) => {
      const result = await call(role, procedure, input);
      if (!result.ok) throw new Error(`${procedure}: ${result.code} ${result.message}`);
      return result.data as Data;
    },
  };
}
