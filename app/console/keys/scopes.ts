import type { Scope } from "#server/scopes";

type Words = {
  group: "Mail" | "Templates" | "Domains" | "Suppressions" | "Webhooks" | "Keys" | "Watching";
  /** Completes "It may …". */
  may: string;
};

/** What each scope lets a key do, in words, in the order in which people choose. */
export const SCOPE_WORDS: Record<Scope, Words> = {
  "emails:send": { group: "Mail", may: "send mail, and cancel, reschedule or retry it" },
  "emails:read": { group: "Mail", may: "read mail and what became of it" },
  "templates:read": { group: "Templates", may: "read templates" },
  "templates:write": { group: "Templates", may: "change, publish and delete templates" },
  "domains:read": { group: "Domains", may: "read domains and their DNS records" },
  "domains:write": { group: "Domains", may: "add, change and remove domains" },
  "suppressions:read": { group: "Suppressions", may: "read which addresses are not written to" },
  "suppressions:write": { group: "Suppressions", may: "add and remove suppressed addresses" },
  "webhooks:read": { group: "Webhooks", may: "read webhooks and what they were told" },
  "webhooks:write": { group: "Webhooks", may: "change webhooks, read their secrets, replay events" },
  "keys:read": { group: "Keys", may: "list keys" },
  "keys:write": { group: "Keys", may: "make, rotate and revoke keys, none with more than it has itself" },
  "events:read": { group: "Watching", may: "read the feed of events" },
  "usage:read": { group: "Watching", may: "read how much was sent" },
  "logs:read": { group: "Watching", may: "read the record of API calls" },
};

/** Every scope, in the order of the table. */
export const SCOPE_NAMES = Object.keys(SCOPE_WORDS) as Scope[];

/** The groups of the table with their scopes. */
export const SCOPE_GROUPS = [...new Set(SCOPE_NAMES.map((name) => SCOPE_WORDS[name].group))].map((group) => ({
  group,
  scopes: SCOPE_NAMES.filter((name) => SCOPE_WORDS[name].group === group),
}));

export type Preset = "full" | "sending" | "custom";

/** The scopes of a preset; null where they are chosen singly. */
export const PRESET_SCOPES: Record<Preset, readonly Scope[] | null> = {
  full: SCOPE_NAMES,
  sending: ["emails:send"],
  custom: null,
};

const isKnown = (name: string): name is Scope => Object.hasOwn(SCOPE_WORDS, name);

/** Scopes as a line of a list: the preset's name, or the first of what it may do and how much more. */
export function sayScopes(scopes: readonly string[]): string {
  const known = SCOPE_NAMES.filter((name) => scopes.includes(name));
  if (known.length === SCOPE_NAMES.length) return "Full access";
  if (known.length === 1 && known[0] === "emails:send") return "Sending only";
  return known.length === 1 ? "1 permission" : `${known.length} permissions`;
}

/** Scopes as a sentence, for whoever hovers. */
export const sayMay = (scopes: readonly string[]): string =>
  `It may ${scopes
    .filter(isKnown)
    .map((name) => SCOPE_WORDS[name].may)
    .join("; ")}.`;
