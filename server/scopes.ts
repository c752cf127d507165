/** Everything a key may be allowed to do. A route names one of them; a key holds several. */
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

/** Names that stand for several scopes when a key is made. */
export const SCOPE_PRESETS: Record<string, readonly Scope[]> = {
  full_access: SCOPES,
  sending_access: ["emails:send"],
};

/** Turns what a person wrote into scopes, each once; a word that is neither scope nor preset comes back as the fault. */
export function readScopes(words: readonly string[]): { scopes: Scope[] } | { unknown: string } {
  const scopes = new Set<Scope>();
  for (const word of words) {
    const preset = Object.hasOwn(SCOPE_PRESETS, word) ? SCOPE_PRESETS[word] : undefined;
    const named = preset ?? SCOPES.filter((scope) => scope === word);
    if (named.length === 0) return { unknown: word };
    for (const scope of named) scopes.add(scope);
  }
  return { scopes: [...scopes] };
}
