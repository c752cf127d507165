import type { Command } from "commander";
import { BUILT_IN_DOMAIN } from "#db/schema/domains";
import { applyLimits, changeKey, type KeyChange } from "#server/services/keys/change";
import { createKey, revokeKey } from "#server/services/keys/keys";
import { listKeys } from "#server/services/keys/read";
import { ROTATION, rotateKey } from "#server/services/keys/rotate";
import { SCOPES, type Scope } from "#server/shared/scopes";
import { type ApiKey, presentApiKey } from "#server/shared/wire/api-key";
import {
  addJsonOption,
  addTeamOption,
  readDomainList,
  readExpiry,
  readId,
  readLimit,
  readName,
  readOverlapHours,
  readScopeList,
} from "./arguments";
import { withTeam } from "./session";
import { formatTime, printJson, printLine, printNote, printTable } from "./terminal";

type CreateOptions = {
  name: string;
  scopes: Scope[];
} & SetOptions;
type ListOptions = { team?: string; json?: true };
type SetOptions = ListOptions & {
  domains?: string[] | "all";
  expires?: Date | "never";
  limit?: KeyChange["limits"];
};

type RotateOptions = ListOptions & { overlap: number };

const hourMs = 3_600_000;

/** `key create`, `key list`, `key set`, `key rotate`, `key revoke`. */
export function addKeyCommands(program: Command): void {
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
    .option("--expires <time>", EXPIRES, readExpiry)
    .option("--limit <class=number>", LIMIT, readLimit);
  addJsonOption(addTeamOption(create)).addHelpText("after", CREATE_EXAMPLES).action(runCreate);

  addJsonOption(
    addTeamOption(key.command("list").description("lists a team's keys, without revoked keys")),
  ).action(runList);
  const set = key
    .command("set")
    .description("changes a key's domains, expiry or limits, with immediate effect")
    .argument("<id>", KEY_ID, readId)
    .option(
      "--domains <domains>",
      "domains that replace the current ones, separated by commas, or all",
      readDomainList,
    )
    .option("--expires <time>", EXPIRES, readExpiry)
    .option("--limit <class=number>", `${LIMIT}; class=default resets the limit`, readLimit);
  addJsonOption(addTeamOption(set)).addHelpText("after", SET_EXAMPLES).action(runSet);

  addJsonOption(
    addTeamOption(
      key
        .command("rotate")
        .description("replaces a key and prints the new token; the old token stays valid for a time")
        .argument("<id>", KEY_ID, readId)
        .option(
          "--overlap <hours>",
          `hours for which both tokens are valid, at most ${ROTATION.overlapMsMax / hourMs}`,
          readOverlapHours,
          ROTATION.overlapMs / hourMs,
        ),
    ),
  ).action(runRotate);
  addJsonOption(
    addTeamOption(
      key
        .command("revoke")
        .description("revokes a key, with immediate effect")
        .argument("<id>", KEY_ID, readId),
    ),
  ).action(runRevoke);
}

const KEY_ID = "id of the key, as key list shows it";
const EXPIRES = "when it expires, ISO 8601, or never; a time in the past is allowed";
const LIMIT =
  "requests per minute for one class; repeatable (POST /api/emails, GET /api/emails, POST /api/templates, other)";

const CREATE_EXAMPLES = `
Examples:
  key create --name app --scopes emails:send,emails:read --domains example.com,example.org
  key create --name ci --scopes full_access --domains all --expires 2030-01-31
  key create --name bulk --scopes sending_access --domains example.com --limit "POST /api/emails=1000"
  TOKEN=$(npm run -s backstamp -- key create --name app --scopes full_access --json | jq -r .token)`;

const SET_EXAMPLES = `
Examples:
  key set 0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d2 --limit "POST /api/emails=1000"
  key set 0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d2 --domains all --expires never`;

const NO_DOMAINS = `Without --domains, this key can send only from ${BUILT_IN_DOMAIN} and from domains that it adds.`;
const EXPIRED = "The expiry is in the past, so the API rejects this key.";

async function runCreate(options: CreateOptions): Promise<void> {
  const domains = options.domains ?? [BUILT_IN_DOMAIN];
  await withTeam(options.team, async (ctx, team) => {
    const { key, token } = await createKey(ctx, {
      name: options.name,
      scopes: options.scopes,
      domains,
      expiresAt: timeOf(options.expires ?? "never"),
      limits: applyLimits({}, options.limit ?? {}),
    });
    const remarks = [
      ...(options.domains ? [] : [NO_DOMAINS]),
      ...(key.expiresAt && key.expiresAt <= ctx.clock() ? [EXPIRED] : []),
    ];
    if (options.json) {
      for (const line of remarks) printNote(line);
      return printJson({ ...presentApiKey(key), token, team_id: team.id });
    }
    printLine(`Created key ${key.name} (${key.id}) of team ${team.name}.`);
    printLine();
    printLine(`  Token    ${token}`);
    printKey(key);
    printLine();
    printLine("The token is shown only once. Backstamp stores only its hash.");
    for (const line of remarks) printLine(line);
  });
}

async function runSet(id: string, options: SetOptions, command: Command): Promise<void> {
  const { domains, expires, limit } = options;
  const change: KeyChange = {
    ...(domains !== undefined && { domains }),
    ...(expires !== undefined && { expiresAt: timeOf(expires) }),
    ...(limit !== undefined && { limits: limit }),
  };
  if (Object.keys(change).length === 0) command.error("error: use --domains, --expires or --limit");
  await withTeam(options.team, async (ctx, team) => {
    const key = await changeKey(ctx, id, change);
    if (options.json) return printJson(presentApiKey(key));
    printLine(`Updated key ${key.name} (${key.id}) of team ${team.name}.`);
    printLine();
    printKey(key);
  });
}

async function runList(options: ListOptions): Promise<void> {
  await withTeam(options.team, async (ctx, team) => {
    const keys = await listKeys(ctx);
    if (options.json) return printJson({ data: keys.map(presentApiKey) });
    if (keys.length === 0) return printNote(`Team ${team.name} has no keys. Create one: key create --help`);
    printTable(
      ["ID", "NAME", "TOKEN", "SCOPES", "DOMAINS", "EXPIRES", "LIMITS", "LAST USED"],
      keys.map((key) => [
        key.id,
        key.name,
        `re_${key.tokenId}_…`,
        ...describeKey(key),
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
    if (options.json) return printJson({ ...presentApiKey(key), token, team_id: team.id, ...previous });
    printLine(`Created key ${key.name} (${key.id}) of team ${team.name}. It replaces ${id}.`);
    printLine();
    printLine(`  Token    ${token}`);
    printLine();
    printLine(`The old token is valid until ${formatTime(previousUntil)}.`);
    printLine("The new token is shown only once. Backstamp stores only its hash.");
  });
}

async function runRevoke(id: string, options: ListOptions): Promise<void> {
  await withTeam(options.team, async (ctx) => {
    const revoked = await revokeKey(ctx, id);
    if (options.json) return printJson({ id: revoked.id, revoked: true });
    printLine(`Revoked key ${revoked.id}.`);
  });
}

const timeOf = (expires: Date | "never"): Date | null => (expires === "never" ? null : expires);

/** The scopes, domains, expiry and limits of a key, in this order, as text. */
const describeKey = (key: ApiKey): [scopes: string, domains: string, expires: string, limits: string] => [
  SCOPES.every((scope) => key.scopes.includes(scope)) ? "full_access" : key.scopes.join(","),
  key.allDomains ? "all" : key.links.map(({ name }) => name).join(","),
  key.expiresAt ? formatTime(key.expiresAt) : "never",
  Object.entries(key.limits)
    .map(([tier, number]) => `${tier}=${number}`)
    .join(", ") || "default",
];

function printKey(key: ApiKey): void {
  const values = describeKey(key);
  for (const [place, label] of ["Scopes", "Domains", "Expires", "Limits"].entries())
    printLine(`  ${label.padEnd(8)} ${values[place]}`);
}
