import type { Tier } from "#server/shared/rate-limits";
import type { Scope } from "#server/shared/scopes";
import type { KeyRow } from "#server/trpc/keys/keys";
import { formatCount } from "../_ui/format-number";
import { Badge } from "../_ui/text/badge";
import { When } from "../_ui/text/when";

/** The request classes with separate rate limits, in display order. */
export const TIER_LABELS: Record<Tier, string> = {
  "POST /api/emails": "Sending email",
  "GET /api/emails": "Reading email",
  "POST /api/templates": "Creating templates",
  other: "All other requests",
};

type ScopeLabel = {
  group: "Email" | "Templates" | "Domains" | "Suppressions" | "Webhooks" | "Keys" | "Monitoring";
  label: string;
};

/** The label and the group of each scope, in display order. */
export const SCOPE_LABELS: Record<Scope, ScopeLabel> = {
  "emails:send": { group: "Email", label: "Send, cancel, reschedule and retry email" },
  "emails:read": { group: "Email", label: "Read email and its status" },
  "templates:read": { group: "Templates", label: "Read templates" },
  "templates:write": { group: "Templates", label: "Create, update, publish and delete templates" },
  "domains:read": { group: "Domains", label: "Read domains and their DNS records" },
  "domains:write": { group: "Domains", label: "Create, update and delete domains" },
  "suppressions:read": { group: "Suppressions", label: "Read the suppression list" },
  "suppressions:write": { group: "Suppressions", label: "Add and remove suppressed addresses" },
  "webhooks:read": { group: "Webhooks", label: "Read webhooks and their event deliveries" },
  "webhooks:write": { group: "Webhooks", label: "Manage webhooks, read signing secrets and replay events" },
  "keys:read": { group: "Keys", label: "List keys" },
  "keys:write": { group: "Keys", label: "Create, rotate and revoke keys with at most its own permissions" },
  "events:read": { group: "Monitoring", label: "Read the event feed" },
  "usage:read": { group: "Monitoring", label: "Read usage" },
  "logs:read": { group: "Monitoring", label: "Read the API request log" },
};

/** Every scope, in display order. */
export const SCOPE_NAMES = Object.keys(SCOPE_LABELS) as Scope[];

/** The groups in display order, with their scopes. */
export const SCOPE_GROUPS = [...new Set(SCOPE_NAMES.map((name) => SCOPE_LABELS[name].group))].map(
  (group) => ({ group, scopes: SCOPE_NAMES.filter((name) => SCOPE_LABELS[name].group === group) }),
);

export type Preset = "full" | "sending" | "custom";

/** The scopes of a preset. Null if they are selected one by one. */
export const PRESET_SCOPES: Record<Preset, readonly Scope[] | null> = {
  full: SCOPE_NAMES,
  sending: ["emails:send"],
  custom: null,
};

/** A short form for the list: the name of a preset, or the number of permissions. */
export function formatScopes(scopes: readonly string[]): string {
  const known = SCOPE_NAMES.filter((name) => scopes.includes(name));
  if (known.length === SCOPE_NAMES.length) return "Full access";
  if (known.length === 1 && known[0] === "emails:send") return "Sending only";
  return formatCount(known.length, "permission");
}

/** All permissions of the scopes, for a tooltip. */
export const formatPermissions = (scopes: readonly string[]): string =>
  SCOPE_NAMES.filter((name) => scopes.includes(name))
    .map((name) => SCOPE_LABELS[name].label)
    .join("; ");

/** About the field of a key's client networks. */
export const NETWORKS_HINT =
  "Addresses or networks in CIDR notation, up to 50. The key is rejected from every other address. Leave empty for any IP address.";
export const NETWORKS_EXAMPLE = "192.0.2.0/24 2001:db8::/32";

export type KeyStateProps = { of: Pick<KeyRow, "state" | "expires_at" | "expiresSoon"> };

/** The state of a key, with its expiry if that is soon. */
export function KeyStateBadge({ of: { state, expires_at, expiresSoon } }: KeyStateProps) {
  if (state === "revoked") return <Badge tone="mute">Revoked</Badge>;
  if (state === "expired") return <Badge tone="bad">Expired</Badge>;
  if (expires_at === null || !expiresSoon) return <Badge tone="good">Active</Badge>;
  return (
    <Badge tone="warn">
      Expires <When isDue at={expires_at} />
    </Badge>
  );
}
