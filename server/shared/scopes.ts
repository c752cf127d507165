import type { Role } from "#db/schema/teams";

/**
 * All scopes of API keys, with the lowest role whose members have the same permission. A route requires one
 * of them; a key has one or more.
 */
export const SCOPE_ROLES = {
  "emails:send": "member",
  "emails:read": "viewer",
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
} as const satisfies Record<string, Role>;
export type Scope = keyof typeof SCOPE_ROLES;
export const SCOPES = Object.keys(SCOPE_ROLES) as Scope[];

/** Names for groups of scopes, accepted when a key is created. */
export const SCOPE_PRESETS: Record<string, readonly Scope[]> = {
  full_access: SCOPES,
  sending_access: ["emails:send"],
};

/** Resolves scopes and presets to unique scopes. Returns the first word that is neither as `unknown`. */
export function parseScopes(words: readonly string[]): { scopes: Scope[] } | { unknown: string } {
  const scopes = new Set<Scope>();
  for (const word of words) {
    const preset = Object.hasOwn(SCOPE_PRESETS, word) ? SCOPE_PRESETS[word] : undefined;
    const named = preset ?? SCOPES.filter((scope) => scope === word);
    if (named.length === 0) return { unknown: word };
    for (const scope of named) scopes.add(scope);
  }
  return { scopes: [...scopes] };
}
