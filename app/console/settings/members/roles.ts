import type { MemberRow } from "#server/trpc/member-views";
import type { Tone } from "../../_ui/statuses";

export type Role = MemberRow["role"];

/** What each role may do, in the words of the people who choose one. The table of rights decides. */
export const ROLE_WORDS: Record<Role, { label: string; hint: string; tone: Tone }> = {
  owner: {
    label: "Owner",
    hint: "Everything, and decides who else is an owner.",
    tone: "info",
  },
  admin: {
    label: "Admin",
    hint: "Domains, API keys, webhooks, the team's settings, its members and its log of changes.",
    tone: "info",
  },
  member: {
    label: "Member",
    hint: "Sends, retries and cancels mail, writes templates, keeps the suppressions, sees API requests.",
    tone: "mute",
  },
  viewer: {
    label: "Viewer",
    hint: "Sees mails, templates, domains, keys and webhooks. Changes nothing.",
    tone: "mute",
  },
};

export const ROLE_NAMES: readonly Role[] = ["owner", "admin", "member", "viewer"];

export const roleOf = (text: string): Role => ROLE_NAMES.find((name) => name === text) ?? "viewer";

/** The roles as cards to choose from; an owner is made by owners alone. */
export const roleOptions = (mayMakeOwners: boolean) =>
  ROLE_NAMES.map((value) => ({
    value,
    label: ROLE_WORDS[value].label,
    hint:
      value === "owner" && !mayMakeOwners
        ? "Only an owner can make somebody an owner."
        : ROLE_WORDS[value].hint,
    isDisabled: value === "owner" && !mayMakeOwners,
  }));
