import { ROLES, type Role } from "#db/schema/teams";
import { SCOPE_ROLES, type Scope } from "./scopes";

/** Permissions in a team that no API key can have. Only the console uses them. */
const CONSOLE_PERMISSIONS = {
  "team:read": "viewer",
  "team:write": "admin",
  "members:write": "admin",
  "owners:write": "owner",
  "audit:read": "admin",
  "people:write": "admin",
} as const satisfies Record<string, Role>;

/** The permission that a console procedure requires. The scopes of API keys have the same meaning here. */
export type Permission = Scope | keyof typeof CONSOLE_PERMISSIONS;

/**
 * The lowest role that has each permission. The roles above it have it too, in the order owner, admin,
 * member, viewer.
 */
export const PERMISSIONS: Record<Permission, Role> = { ...SCOPE_ROLES, ...CONSOLE_PERMISSIONS };

const rank = (role: Role) => ROLES.indexOf(role);

/** Whether a role has a permission. */
export const hasPermission = (role: Role, permission: Permission): boolean =>
  rank(role) <= rank(PERMISSIONS[permission]);

/** All permissions of a role, for pages that show only permitted actions. */
export const permissionsOf = (role: Role): Permission[] =>
  (Object.keys(PERMISSIONS) as Permission[]).filter((permission) => hasPermission(role, permission));

/** The message for a role without the required permission: the missing permission, and whom to ask. */
export function formatMissingPermission(role: Role, permission: Permission): string {
  const able = ROLES.slice(0, rank(PERMISSIONS[permission]) + 1).map((name) =>
    name === "member" ? "a member" : `an ${name}`,
  );
  return `Your role in this team is ${role}, which does not permit this action. Ask ${able.join(" or ")}.`;
}
