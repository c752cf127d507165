import { BUILT_IN_DOMAIN } from "#db/schema/domains";
import { cli } from "#server/platform/env/cli";
import { applyLimits, changeKey, type KeyChange } from "#server/services/keys/change";
import { createKey, revokeKey } from "#server/services/keys/keys";
import { listKeys } from "#server/services/keys/read";
import { ROTATION, rotateKey } from "#server/services/keys/rotate";
import { SCOPES, type Scope } from "#server/shared/scopes";
import { type ApiKey, presentApiKey } from "#server/shared/wire/api-key";
import {
  orNull,
  readDomainList,
  readExpiry,
  readId,
  readLimit,
  readName,
  readNetworks,
  readOverlapHours,
  readScopeList,
} from "../arguments";
import { type AdminCommand, addToAll, requireOption, runInTeam, TEAM_OPTION } from "../command";
import { listOutput } from "../terminal";

type SetOptions = {
  domains?: string[] | "all";
  expires?: Date | "never";
  limit?: KeyChange["limits"];
  networks?: string[] | "any";
};
type CreateOptions = SetOptions & { name: string; scopes: Scope[] };

const hourMs = 3_600_000;

/** `key create`, `key list`, `key set`, `key rotate`, `key revoke`. */
export function addKeyCommands(program: AdminCommand): void {
  const key = program.command("key").description("API keys");

  const create = key
    .command("create")
    .description("creates a key and prints its token, which is shown only once")
    .requiredOption("--name <name>", "name of the key", readName)
    .requiredOption(
      "--scopes <scopes>",
      "scopes separated by commas, or full_access, or sending_access",
      readScopeList,
    )
    .option(
      "--domains <domains>",
      `domains that the key may send from, separated by commas, or all (default: ${BUILT_IN_DOMAIN} only); domains that the key adds are included`,
      readDomainList,
    )
    .option(...EXPIRES, readExpiry)
    .option("--limit <class=number>", LIMIT, readLimit)
    .option(...NETWORKS, readNetworks)
    .addHelpText("after", CREATE_EXAMPLES);
  runInTeam(create, async (ctx, team, { name, scopes, domains, expires, limit, networks }: CreateOptions) => {
    const { key, token } = await createKey(ctx, {
      name,
      scopes,
      domains: domains ?? [BUILT_IN_DOMAIN],
      expiresAt: orNull(expires ?? "never"),
      limits: applyLimits({}, limit ?? {}),
      ...(networks !== undefined && { clientNetworks: networks === "any" ? [] : networks }),
    });
    return {
      json: { ...presentApiKey(key), token, team_id: team.id },
      text: [
        `Created key ${key.name} (${key.id}) of team ${team.name}.`,
        { token, ...grantOf(key) },
        SHOWN_ONCE,
      ],
      notes: [
        ...(domains ? [] : [NO_DOMAINS]),
        ...(key.expiresAt && key.expiresAt <= ctx.clock() ? [EXPIRED] : []),
      ],
    };
  });

  const list = key.command("list").description("lists a team's keys, without revoked keys");
  runInTeam(list, async (ctx, team) => {
    const keys = await listKeys(ctx);
    const output = listOutput(
      keys,
      (key) => ({
        id: key.id,
        name: key.name,
        token: `re_${key.tokenId}_…`,
        ...grantOf(key),
        last_used: key.lastUsedAt ?? "never",
      }),
      `Team ${team.name} has no keys. Create one: key create --help`,
    );
    return { ...output, json: { data: keys.map(presentApiKey) } };
  });

  const set = key
    .command("set")
    .description("changes a key's domains, expiry, limits or client networks, with immediate effect")
    .argument(...KEY_ID, readId)
    .option(
      "--domains <domains>",
      "domains that replace the current ones, separated by commas, or all",
      readDomainList,
    )
    .option(...EXPIRES, readExpiry)
    .option("--limit <class=number>", `${LIMIT}; class=default resets the limit`, readLimit)
    .option(...NETWORKS, readNetworks)
    .addHelpText("after", SET_EXAMPLES)
    .hook("preAction", requireOption("--domains", "--expires", "--limit", "--networks"));
  runInTeam(set, async (ctx, team, id: string, { domains, expires, limit, networks }: SetOptions) => {
    const changed = await changeKey(ctx, id, {
      ...(domains !== undefined && { domains }),
      ...(expires !== undefined && { expiresAt: orNull(expires) }),
      ...(limit !== undefined && { limits: limit }),
      ...(networks !== undefined && { clientNetworks: networks === "any" ? [] : networks }),
    });
    return {
      json: presentApiKey(changed),
      text: [`Updated key ${changed.name} (${changed.id}) of team ${team.name}.`, grantOf(changed)],
    };
  });

  const rotate = key
    .command("rotate")
    .description("replaces a key and prints the new token; the old token stays valid for a time")
    .argument(...KEY_ID, readId)
    .option(
      "--overlap <hours>",
      `hours for which both tokens are valid, at most ${ROTATION.overlapMsMax / hourMs}`,
      readOverlapHours,
      ROTATION.overlapMs / hourMs,
    );
  runInTeam(rotate, async (ctx, team, id: string, { overlap }: { overlap: number }) => {
    const { key, token, previousUntil } = await rotateKey(ctx, id, {
      overlapMs: Math.round(overlap * hourMs),
    });
    const previous = { rotated_from: id, previous_expires_at: previousUntil.toISOString() };
    return {
      json: { ...presentApiKey(key), token, team_id: team.id, ...previous },
      text: [
        `Created key ${key.name} (${key.id}) of team ${team.name}. It replaces ${id}.`,
        { token, old_token_expires: previousUntil },
        SHOWN_ONCE,
      ],
    };
  });

  const revoke = key
    .command("revoke")
    .description("revokes a key, with immediate effect")
    .argument(...KEY_ID, readId);
  runInTeam(revoke, async (ctx, _team, given: string) => {
    const { id } = await revokeKey(ctx, given);
    return { json: { id, revoked: true }, text: [`Revoked key ${id}.`] };
  });

  addToAll(key, TEAM_OPTION);
}

const KEY_ID = ["<id>", "id of the key, as key list shows it"] as const;
const EXPIRES = [
  "--expires <time>",
  "when it expires, ISO 8601, or never; a time in the past is allowed",
] as const;
const NETWORKS = [
  "--networks <networks>",
  "networks from which the key may be used, in CIDR notation, separated by commas, or any",
] as const;
const LIMIT =
  "requests per minute for one class; repeatable (POST /api/emails, GET /api/emails, POST /api/templates, other)";

const CREATE_EXAMPLES = `
Examples:
  key create --name app --scopes emails:send,emails:read --domains example.com,example.org
  key create --name ci --scopes full_access --domains all --expires 2030-01-31
  key create --name bulk --scopes sending_access --domains example.com --limit "POST /api/emails=1000"
  TOKEN=$(${cli} key create --name app --scopes full_access --json | jq -r .token)`;

const SET_EXAMPLES = `
Examples:
  key set 0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d2 --limit "POST /api/emails=1000"
  key set 0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d2 --domains all --expires never
  key set 0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d2 --networks 192.0.2.0/24,2001:db8::/32`;

const SHOWN_ONCE = "The token is shown only once. Backstamp stores only its hash.";
const NO_DOMAINS = `Without --domains, this key can send only from ${BUILT_IN_DOMAIN} and from domains that it adds.`;
const EXPIRED = "The expiry is in the past, so the API rejects this key.";

/** The permissions of a key, as text. */
const grantOf = ({ scopes, allDomains, links, expiresAt, limits, clientNetworks }: ApiKey) => ({
  scopes: SCOPES.every((scope) => scopes.includes(scope)) ? "full_access" : scopes,
  domains: allDomains ? "all" : links.map(({ name }) => name),
  expires: expiresAt ?? "never",
  networks: clientNetworks.length > 0 ? clientNetworks : "any",
  limits:
    Object.entries(limits)
      .map(([tier, number]) => `${tier}=${number}`)
      .join(", ") || "default",
});
