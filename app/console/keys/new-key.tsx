import { dayMs } from "#server/shared/durations";
import { TIERS } from "#server/shared/rate-limits";
import { SCOPES, type Scope } from "#server/shared/scopes";
import { SecretOnce } from "../_ui/dialog/secret-once";
import { CodeBlock } from "../_ui/text/code-block";
import { FIRST_EMAIL, formatCurl } from "../_ui/text/send-example";
import { PRESET_SCOPES, type Preset } from "./labels";

type Props = {
  token: string;
  publicUrl: string;
  /** The permissions of the key, and the domains that it is linked to. */
  of: { scopes: readonly string[]; domains: readonly { name: string }[] };
  onStored: () => void;
};

/** The secret of a key, which is shown only once, with a command that uses it. */
export function NewSecret({ token, publicUrl, of: { scopes, domains }, onStored }: Props) {
  const use = { scopes, senderDomain: domains[0]?.name ?? "backstamp.test" };
  return (
    <>
      <CodeBlock text={tryKeyCommand(publicUrl, token, use)} label="Try it" language="Shell" />
      <SecretOnce secret={token} label="API key" onStored={onStored} />
    </>
  );
}

/** The values of the form. */
export type NewKeyFields = {
  name: string;
  preset: Preset;
  scopes: Scope[];
  reach: "all" | "some";
  domains: string[];
  expires: "never" | "1" | "7" | "30" | "90" | "365" | "date";
  /** The value of a `datetime-local` field, in the local time zone of the user. */
  expiresAt: string;
  /** Requests per minute as typed, in the order of `TIERS`. Empty for the default. */
  limits: string[];
  /** Networks in CIDR notation as typed, separated by spaces, commas or lines. Empty for every address. */
  networks: string;
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
  networks: "",
};

/** The networks in a text field. The server checks each one. */
export const networksOf = (text: string): string[] => text.split(/[\s,]+/).filter((item) => item !== "");

/** The input of the mutation that creates the key. */
export function newKeyInput(fields: NewKeyFields, nowMs: number) {
  const { name, preset, scopes, reach, domains, expires, expiresAt, limits, networks } = fields;
  return {
    name,
    scopes: [...(PRESET_SCOPES[preset] ?? scopes)],
    domains: reach === "all" ? ("all" as const) : domains,
    expiresAt:
      expires === "never"
        ? null
        : new Date(expires === "date" ? expiresAt : nowMs + Number(expires) * dayMs).toISOString(),
    clientNetworks: networksOf(networks),
    limits: Object.fromEntries(
      TIERS.flatMap((tier, index) => (limits[index] ? [[tier, Number(limits[index])]] : [])),
    ),
  };
}

/**
 * A curl command that tests a new key: it sends an email if the key can send, else it lists what the key can
 * read.
 */
export function tryKeyCommand(
  publicUrl: string,
  token: string,
  { scopes, senderDomain }: { scopes: readonly string[]; senderDomain: string },
): string {
  if (scopes.includes("emails:send")) {
    const from = `Backstamp <hello@${senderDomain}>`;
    const email = { ...FIRST_EMAIL, from, subject: "First email with this key" };
    return formatCurl(publicUrl, email).replace("$BACKSTAMP_KEY", token);
  }
  const readable = SCOPES.find((scope) => scope.endsWith(":read") && scopes.includes(scope)) ?? "emails:read";
  const [noun] = readable.split(":");
  const path = noun === "keys" ? "api-keys" : noun;
  return `curl -sS ${publicUrl}/api/${path} \\\n  -H "Authorization: Bearer ${token}"`;
}
