import type { Command } from "commander";
import type { OwnLimits } from "#db/schema/api-keys";
import { BUILT_IN_DOMAIN } from "#db/schema/domains";
import { SCOPES, type Scope } from "#server/scopes";
import { createKey, type Key, listKeys, revokeKey } from "#server/services/keys/keys";
import { ROTATION, rotateKey } from "#server/services/keys/rotate";
import {
  addJsonOption,
  addTeamOption,
  readDomainList,
  readId,
  readLimit,
  readMoment,
  readName,
  readOverlapHours,
  readScopeList,
} from "./arguments";
import { withTeam } from "./session";
import { formatTime, remark, say, sayJson, sayTable } from "./terminal";

type CreateOptions = {
  name: string;
  scopes: Scope[];
  domains?: string[];
  expires?: Date;
  limit?: OwnLimits;
  team?: string;
  json?: true;
};
type ListOptions = { team?: string; json?: true };

type RotateOptions = ListOptions & { overlap: number };

const hourMs = 3_600_000;

/** `key create`, `key list`, `key rotate`, `key revoke`. */
export function addKeyCommands(program: Command): void {
  const key = program.command("key").description("API keys: what programs send with");

  const create = key
    .command("create")
    .description("makes a key and prints its token, which is shown this once")
    .requiredOption("--name <name>", "what the key is for", readName)
    .requiredOption(
      "--scopes <scopes>",
      "what it may do: scopes with commas between, or full_access, or sending_access",
      readScopeList,
    )
    .option(
      "--domains <domains>",
      `domains that it may send from, with commas between (default: ${BUILT_IN_DOMAIN} alone)`,
      readDomainList,
    )
    .option("--expires <time>", "when it ends, ISO 8601; a time in the past is allowed", readMoment)
    .option(
      "--limit <class=number>",
      "calls a minute for one class instead of the usual number; repeat it for others (POST /api/emails, GET /api/emails, POST /api/templates, other)",
      readLimit,
    );
  addJsonOption(addTeamOption(create)).addHelpText("after", EXAMPLES).action(runCreate);

  addJsonOption(addTeamOption(key.command("list").description("lists the keys that are not revoked"))).action(
    runList,
  );
  addJsonOption(
    addTeamOption(
      key
        .command("rotate")
        .description("makes a key's successor and prints its token; the old token works on for a while")
        .argument("<id>", "the key's id, as key list shows it", readId)
        .option(
          "--overlap <hours>",
          `hours for which both tokens work, at most ${ROTATION.overlapMsMax / hourMs}`,
          readOverlapHours,
          ROTATION.overlapMs / hourMs,
        ),
    ),
  ).action(runRotate);
  addJsonOption(
    addTeamOption(
      key
        .command("revoke")
        .description("ends a key: it is refused within a second")
        .argument("<id>", "the key's id, as key list shows it", readId),
    ),
  ).action(runRevoke);
}

const EXAMPLES = `
Examples:
  key create --name app --scopes emails:send,emails:read --domains example.com,example.org
  key create --name ci --scopes full_access --expires 2030-01-31
  key create --name bulk --scopes sending_access --domains example.com --limit "POST /api/emails=1000"
  TOKEN=$(npm run -s posthorn -- key create --name app --scopes full_access --json | jq -r .token)`;

const NO_DOMAINS = `No --domains were given, so this key sends from ${BUILT_IN_DOMAIN} alone.`;
const EXPIRED = "The expiry lies in the past, so this key is refused from the start.";

async function runCreate(options: CreateOptions): Promise<void> {
  const domains = options.domains ?? [BUILT_IN_DOMAIN];
  await withTeam(options.team, async (ctx, team) => {
    const { key, token } = await createKey(ctx, {
      name: options.name,
      scopes: options.scopes,
      domains,
      expiresAt: options.expires ?? null,
      limits: options.limit ?? {},
    });
    const remarks = [
      ...(options.domains ? [] : [NO_DOMAINS]),
      ...(key.expiresAt && key.expiresAt <= ctx.clock() ? [EXPIRED] : []),
    ];
    if (options.json) {
      for (const line of remarks) remark(line);
      return sayJson({ ...present(key), token, team_id: team.id });
    }
    say(`Made key ${key.name} (${key.id}) of team ${team.name}.`);
    say();
    say(`  Token    ${token}`);
    say(`  Scopes   ${scopesOf(key)}`);
    say(`  Domains  ${domainsOf(key)}`);
    say(`  Expires  ${key.expiresAt ? formatTime(key.expiresAt) : "never"}`);
    if (Object.keys(key.limits).length > 0) say(`  Limits   ${limitsOf(key)}`);
    say();
    say("The token is shown this once: only a hash of it is kept.");
    for (const line of remarks) say(line);
  });
}

async function runList(options: ListOptions): Promise<void> {
  await withTeam(options.team, async (ctx, team) => {
    const keys = await listKeys(ctx);
    if (options.json) return sayJson({ data: keys.map(present) });
    if (keys.length === 0) return remark(`Team ${team.name} has no keys. Make one: key create --help`);
    sayTable(
      ["ID", "NAME", "TOKEN", "SCOPES", "DOMAINS", "LIMITS", "EXPIRES", "LAST USED"],
      keys.map((key) => [
        key.id,
        key.name,
        `re_${key.tokenId}_…`,
        scopesOf(key),
        domainsOf(key),
        limitsOf(key),
        key.expiresAt ? formatTime(key.expiresAt) : "never",
        key.lastUsedAt ? formatTime(key.lastUsedAt) : "never",
      ]),
    );
  });
}

async function runRotate(id: string, options: RotateOptions): Promise<void> {
  await withTeam(options.team, async (ctx, team) => {
    const overlapMs = Math.round(options.overlap * hourMs);
    const { key, token, previousUntil } = await rotateKey(ctx, id, { overlapMs });
    const previous = { rotated_from: id, previous_expires_at: previousUntil.toISOString() };
    if (options.json) return sayJson({ ...present(key), token, team_id: team.id, ...previous });
    say(`Made key ${key.name} (${key.id}) of team ${team.name} in place of ${id}.`);
    say();
    say(`  Token    ${token}`);
    say();
    say(`The old token works until ${formatTime(previousUntil)}.`);
    say("The new one is shown this once: only a hash of it is kept.");
  });
}

async function runRevoke(id: string, options: ListOptions): Promise<void> {
  await withTeam(options.team, async (ctx) => {
    const revoked = await revokeKey(ctx, id);
    if (options.json) return sayJson({ id: revoked.id, revoked: true });
    say(`Revoked key ${revoked.id}.`);
  });
}

const scopesOf = (key: Key): string =>
  SCOPES.every((scope) => key.scopes.includes(scope)) ? "full_access" : key.scopes.join(",");

const domainsOf = (key: Key): string => (key.domains === "all" ? "all" : key.domains.join(","));

const limitsOf = (key: Key): string =>
  Object.entries(key.limits)
    .map(([tier, number]) => `${tier}=${number}`)
    .join(", ") || "usual";

function present(key: Key) {
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
