/** All scopes of API keys. A route requires one of them; a key has one or more. */
export const SCOPES = [
  "emails:send",
  "emails:read",
  "templates:read",
  "templates:write",
  "domains:read",
  "domains:write",
  "keys:read",
  "keys:write",
  "webhooks:read",
  "webhooks:write",
  "suppressions:read",
  "suppressions:write",
  "events:read",
  "usage:read",
  "logs:read",
] as const;
export type Scope = (typeof SCOPES)[number];

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
