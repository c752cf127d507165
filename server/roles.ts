import { ROLES, type Role } from "#db/schema/teams";
import type { Scope } from "./scopes";

/** What a person may do in a team beside what a key's scopes name: only people sign in, so only the console has these. */
export const CONSOLE_RIGHTS = [
  "team:read",
  "team:write",
  "members:write",
  "owners:write",
  "audit:read",
] as const;

/** What a procedure of the console asks for. The first names are those of the keys' scopes, and mean the same. */
export type Right = Scope | (typeof CONSOLE_RIGHTS)[number];

/** The least role that has each right; whoever stands above it (owner, admin, member, viewer) has it too. */
export const RIGHTS: Record<Right, Role> = {
  "emails:read": "viewer",
  "emails:send": "member",
  "templates:read": "viewer",
  "templates:write": "member",
  "domains:read": "viewer",
  "domains:write": "admin",
  "keys:read": "viewer",
  "keys:write": "admin",
  "webhooks:read": "viewer",
  "webhooks:write": "admin",
  "suppressions:read": "viewer",
  "suppressions:write": "member",
  "events:read": "viewer",
  "usage:read": "viewer",
  "logs:read": "member",
  "team:read": "viewer",
  "team:write": "admin",
  "members:write": "admin",
  "owners:write": "owner",
  "audit:read": "admin",
};

const rank = (role: Role) => ROLES.indexOf(role);

/** Whether a role has a right. */
export const mayDo = (role: Role, right: Right): boolean => rank(role) <= rank(RIGHTS[right]);

/** All rights of a role, for pages that show only what would work. */
export const rightsOf = (role: Role): Right[] =>
  (Object.keys(RIGHTS) as Right[]).filter((right) => mayDo(role, right));

/** What a refusal says, and what would work. */
export function sayLack(role: Role, right: Right): string {
  const able = ROLES.slice(0, rank(RIGHTS[right]) + 1).map((name) =>
    name === "member" ? "a member" : `an ${name}`,
  );
  return `Your role in this team is ${role}, which may not do this. Ask ${able.join(" or ")}.`;
}
