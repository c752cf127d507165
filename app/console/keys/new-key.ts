import type { Scope } from "#server/scopes";
import { TIERS, type Tier } from "./limits";
import { PRESET_SCOPES, type Preset } from "./scopes";

/** What the form holds. */
export type NewKeyFields = {
  name: string;
  preset: Preset;
  scopes: Scope[];
  reach: "all" | "some";
  domains: string[];
  expires: "never" | "7" | "30" | "90" | "365" | "date";
  /** As a `datetime-local` field has it, in the reader's own zone. */
  expiresAt: string;
  /** Calls a minute as they were typed, in the order of the classes; empty for the usual number. */
  limits: string[];
};

export const EMPTY_KEY: NewKeyFields = {
  name: "",
  preset: "sending",
  scopes: ["emails:send", "emails:read"],
  reach: "all",
  domains: [],
  expires: "never",
  expiresAt: "",
  limits: TIERS.map(() => ""),
};

const dayMs = 86_400_000;

/** The call that makes the key which the form describes. */
export function newKeyInput(fields: NewKeyFields, nowMs: number) {
  const { name, preset, scopes, reach, domains, expires, expiresAt, limits } = fields;
  const own = TIERS.flatMap((tier, place): [Tier, number][] => {
    const text = limits[place] ?? "";
    return text === "" ? [] : [[tier, Number(text)]];
  });
  return {
    name,
    scopes: [...(PRESET_SCOPES[preset] ?? scopes)],
    domains: reach === "all" ? ("all" as const) : domains,
    expiresAt:
      expires === "never"
        ? null
        : expires === "date"
          ? new Date(expiresAt).toISOString()
          : new Date(nowMs + Number(expires) * dayMs).toISOString(),
    limits: Object.fromEntries(own),
  };
}

/** A command that uses a new key at once: it sends where the key may send, else it reads what the key may read. */
export function tryKeyCommand(
  publicUrl: string,
  token: string,
  { scopes, senderDomain }: { scopes: readonly string[]; senderDomain: string },
): string {
  const authorization = `  -H "Authorization: Bearer ${token}"`;
  if (!scopes.includes("emails:send")) {
    const noun = READ_PATHS.find(([scope]) => scopes.includes(scope))?.[1] ?? "emails";
    return [`curl -sS ${publicUrl}/api/${noun}`, authorization].join(" \\\n");
  }
  const mail = {
    from: `Posthorn <hello@${senderDomain}>`,
    to: "delivered@posthorn.test",
    subject: "First mail with this key",
    html: "<p>It works.</p>",
  };
  return [
    `curl -sS ${publicUrl}/api/emails`,
    authorization,
    `  -H "Content-Type: application/json"`,
    `  -d '${JSON.stringify(mail, null, 2)}'`,
  ].join(" \\\n");
}

const READ_PATHS = [
  ["emails:read", "emails"],
  ["templates:read", "templates"],
  ["domains:read", "domains"],
  ["suppressions:read", "suppressions"],
  ["webhooks:read", "webhooks"],
  ["keys:read", "api-keys"],
  ["events:read", "events"],
  ["usage:read", "usage"],
  ["logs:read", "logs"],
] as const;
