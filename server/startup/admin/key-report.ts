import type { Key } from "#server/services/keys/keys";
import { SCOPES } from "#server/shared/scopes";
import { formatTime } from "./terminal";

/** Formats a key's scopes, domains, expiry and limits as lines of text. */
export const describeKey = (key: Key): string[] => [
  `  Scopes   ${scopesOf(key)}`,
  `  Domains  ${domainsOf(key)}`,
  `  Expires  ${expiryOf(key)}`,
  `  Limits   ${limitsOf(key)}`,
];

export const expiryOf = ({ expiresAt }: Key): string => (expiresAt ? formatTime(expiresAt) : "never");

export const scopesOf = (key: Key): string =>
  SCOPES.every((scope) => key.scopes.includes(scope)) ? "full_access" : key.scopes.join(",");

export const domainsOf = (key: Key): string => (key.domains === "all" ? "all" : key.domains.join(","));

export const limitsOf = (key: Key): string =>
  Object.entries(key.limits)
    .map(([tier, number]) => `${tier}=${number}`)
    .join(", ") || "default";

/** A key as printed by `--json`. */
export function keyJson(key: Key) {
  return {
    id: key.id,
    name: key.name,
    token_id: key.tokenId,
    scopes: key.scopes,
    domains: key.domains,
    limits: key.limits,
    expires_at: key.expiresAt?.toISOString() ?? null,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    created_at: key.createdAt.toISOString(),
  };
}
