import type { MemberRow } from "#server/trpc/members/views";
import type { Tone } from "../../_ui/text/statuses";

export type Role = MemberRow["role"];

/** The label and a summary of each role. The permission table of the server decides. */
export const ROLE_LABELS: Record<Role, { label: string; hint: string; tone: Tone }> = {
  owner: {
    label: "Owner",
    hint: "Full access. Decides which members are owners.",
    tone: "info",
  },
  admin: {
    label: "Admin",
    hint: "Manages domains, API keys, webhooks, team settings and members. Reads the audit log.",
    tone: "info",
  },
  member: {
    label: "Member",
    hint: "Sends, retries and cancels email. Edits templates and suppressions. Reads API requests.",
    tone: "mute",
  },
  viewer: {
    label: "Viewer",
    hint: "Reads emails, templates, domains, keys and webhooks. Cannot change anything.",
    tone: "mute",
  },
};

export const ROLE_NAMES: readonly Role[] = ["owner", "admin", "member", "viewer"];

export const roleOf = (text: string): Role => ROLE_NAMES.find((name) => name === text) ?? "viewer";

/** The roles as options of a form. Only an owner can select the owner role. */
export const roleOptions = (canAssignOwner: boolean) =>
  ROLE_NAMES.map((value) => ({
    value,
    label: ROLE_LABELS[value].label,
    hint:
      value === "owner" && !canAssignOwner ? "Only an owner can assign this role." : ROLE_LABELS[value].hint,
    isDisabled: value === "owner" && !canAssignOwner,
  }));
