import type { MemberRow } from "#server/trpc/members/members";
import { Badge } from "../../_ui/text/badge";

export type Role = MemberRow["role"];

/** A summary of each role, highest first. The permission table of the server decides. */
const ROLE_HINTS: Record<Role, string> = {
  owner: "Full access. Decides which members are owners.",
  admin: "Manages domains, API keys, webhooks, team settings and members. Reads the audit log.",
  member: "Sends, retries and cancels email. Edits templates and suppressions. Reads API requests.",
  viewer: "Reads emails, templates, domains, keys and webhooks. Cannot change anything.",
};

const ROLE_NAMES = Object.keys(ROLE_HINTS) as Role[];

export const roleOf = (text: string): Role => ROLE_NAMES.find((name) => name === text) ?? "viewer";

const labelOf = (role: Role) => `${role.charAt(0).toUpperCase()}${role.slice(1)}`;

/** A role, with its summary on hover. */
export const RoleBadge = ({ role }: { role: Role }) => (
  <Badge tone={role === "owner" || role === "admin" ? "info" : "mute"} title={ROLE_HINTS[role]}>
    {labelOf(role)}
  </Badge>
);

/** The roles as options of a form. Only an owner can select the owner role. */
export const roleOptions = (canAssignOwner: boolean) =>
  ROLE_NAMES.map((value) => {
    const isDisabled = value === "owner" && !canAssignOwner;
    const hint = isDisabled ? "Only an owner can assign this role." : ROLE_HINTS[value];
    return { value, label: labelOf(value), hint, isDisabled };
  });
