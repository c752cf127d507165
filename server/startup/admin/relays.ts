import { text } from "node:stream/consumers";
import { type Command, InvalidArgumentError, Option } from "commander";
import { RELAY_PROVIDERS, type RelayProvider } from "#db/schema/relays";
import { probeRelay } from "#server/delivery/routing/relay-client";
import type { Ctx, Deps } from "#server/deps";
import { newId } from "#server/platform/ids";
import { findDomain } from "#server/services/domains/read";
import { resumeRelay } from "#server/services/relays/health";
import { findRelay, listRelays, type RelayView, readSealedRelay } from "#server/services/relays/read";
import { addRelay, type RelayChange, removeRelay, updateRelay } from "#server/services/relays/write";
import { findTeam } from "#server/services/teams";
import { OperatorError } from "../launcher/operator-error";
import { addJsonOption, readDomain, readName } from "./arguments";
import { withDatabase } from "./session";
import { formatTime, printJson, printLine, printTable } from "./terminal";

type Options = { json?: true; team?: string };
type ChangeOptions = { dkim?: "on" | "off"; provider?: RelayProvider | "none"; position?: number };
type AddOptions = Options & ChangeOptions & { domain?: string };

const probeMs = 30_000;
const positionMax = 1_000;

/** `relay add`, `relay list`, `relay set`, `relay remove`, `relay test`. */
export function addRelayCommands(program: Command): void {
  const relay = program
    .command("relay")
    .description("SMTP servers of providers that send email for all teams, one team, or one domain");

  addJsonOption(
    addChangeOptions(
      relay
        .command("add")
        .description("adds a relay; multiple relays are tried in the order of their positions")
        .argument("<name>", "name of the relay", readName)
        .argument("<url>", "smtp://user:password@host:port or smtps://…; - reads it from standard input")
        .option("--team <team>", "only for this team, by id or name (default: for all teams)")
        .option(
          "--domain <domain>",
          "only for email from this domain of the team (default team: the first team)",
          readDomain,
        ),
    ),
  )
    .addHelpText("after", ADD_HELP)
    .action(async (name: string, url: string, options: AddOptions) => {
      const whole = await readUrl(url);
      await withDatabase(async ({ deps }) => {
        const scope = await scopeOf(deps, options);
        const made = await addRelay(deps, { name, url: whole, ...scope, ...changeOf(options) });
        if (options.json) return printJson(present(made));
        printLine(
          `Added relay ${made.name} (${made.host}), ${formatScope(made)}. Workers use it immediately.`,
        );
        printLine(formatDkim(made));
        printLine(`Test the connection and the login: relay test ${made.name}`);
      });
    });

  addJsonOption(
    relay.command("list").description("lists the relays with their health; failing relays are paused"),
  ).action(async (options: Options) => {
    await withDatabase(async ({ deps }) => {
      const found = await listRelays(deps);
      if (options.json) return printJson({ data: found.map(present) });
      printTable(
        ["FOR", "POSITION", "NAME", "HOST", "DKIM", "PROVIDER", "STATE", "ID"],
        found.map((one) => [
          formatScope(one),
          String(one.position),
          one.name,
          one.host,
          one.dkim ? "on" : "off",
          one.provider ?? "",
          one.isPaused ? "PAUSED" : one.failures > 0 ? `failing (${one.failures})` : "healthy",
          one.id,
        ]),
      );
      for (const one of found)
        if (one.isPaused || one.failures > 0)
          printLine(`${one.name}, ${formatTime(one.lastFaultAt ?? one.createdAt)}: ${one.lastFault}`);
    });
  });

  addJsonOption(
    addChangeOptions(addTeamOfRelay(relay.command("set").description("changes a relay"))).option(
      "--url <url>",
      "new URL; - reads it from standard input",
    ),
  )
    .addHelpText("after", "\nExamples:\n  relay set main --position 2\n  relay set main --url - < url.txt")
    .action(async (name: string, options: Options & ChangeOptions & { url?: string }) => {
      const url = options.url === undefined ? {} : { url: await readUrl(options.url) };
      await withDatabase(async ({ deps }) => {
        const changed = await updateRelay(deps, await find(deps, name, options), {
          ...url,
          ...changeOf(options),
        });
        if (options.json) return printJson(present(changed));
        printLine(
          `Updated relay ${changed.name} (${changed.host}), ${formatScope(changed)}, position ${changed.position}.`,
        );
        printLine(formatDkim(changed));
      });
    });

  addJsonOption(addTeamOfRelay(relay.command("remove").description("removes a relay"))).action(
    async (name: string, options: Options) => {
      await withDatabase(async ({ deps }) => {
        const found = await find(deps, name, options);
        await removeRelay(deps, found);
        if (options.json) return printJson({ id: found.id, removed: true });
        printLine(`Removed relay ${found.name}. Its queued email uses the next relay in the routing order.`);
      });
    },
  );

  addJsonOption(
    addTeamOfRelay(
      relay
        .command("test")
        .description(
          "connects to a relay and logs in, without sending an email; resumes a paused relay on success",
        ),
    ),
  ).action(async (name: string, options: Options) => {
    await withDatabase(async ({ deps }) => {
      const found = await find(deps, name, options);
      const failure = await probeRelay(deps, await readSealedRelay(deps, found.id), probeMs);
      if (failure !== null) throw new OperatorError(`Test of relay ${found.name} failed: ${failure.reason}`);
      const isResumed = await resumeRelay(deps.hot, found.id);
      if (options.json) return printJson({ id: found.id, works: true, resumed: isResumed });
      printLine(
        `Relay ${found.name} accepts the connection and the login.${isResumed ? " It is no longer paused." : ""}`,
      );
    });
  });
}

const ADD_HELP = `
Routing uses the relays of the sender's domain. If there are none, it uses those of the team, then those of all teams, then
SMTP_URL. The next relay of a list is tried only if the previous one certainly did not accept the email. The URL is stored
encrypted and never shown again. A team's relay must be on the public Internet, or in a network of BACKSTAMP_EGRESS_ALLOW.

Examples:
  relay add main smtp://user:password@smtp.example.com:587
  relay add spare - --team Sales --domain example.com < url.txt`;

const addTeamOfRelay = (command: Command): Command =>
  command
    .argument("<relay>", "id or name of the relay")
    .option("--team <team>", "id or name of the team that the relay belongs to");

const addChangeOptions = (command: Command): Command =>
  command
    .addOption(
      new Option(
        "--dkim <state>",
        "add Backstamp's DKIM signatures (default: on; off for SES, which rewrites signed headers)",
      ).choices(["on", "off"]),
    )
    .addOption(
      new Option("--provider <name>", "provider of the relay (default: detected from the host)").choices([
        ...RELAY_PROVIDERS,
        "none",
      ]),
    )
    .option("--position <number>", "position in the routing order (default: last)", readPosition);

function readPosition(given: string): number {
  const position = Number(given);
  if (!/^\d+$/.test(given) || position < 1 || position > positionMax)
    throw new InvalidArgumentError(`Enter a number from 1 to ${positionMax}.`);
  return position;
}

/** Standard input keeps the password out of the process list and the shell history. */
const readUrl = async (given: string): Promise<string> =>
  given === "-" ? (await text(process.stdin)).trim() : given;

const changeOf = ({ dkim, provider, position }: ChangeOptions): RelayChange => ({
  ...(dkim === undefined ? {} : { dkim: dkim === "on" }),
  ...(provider === undefined ? {} : { provider: provider === "none" ? null : provider }),
  ...(position === undefined ? {} : { position }),
});

async function scopeOf(deps: Deps, { team, domain }: AddOptions) {
  if (team === undefined && domain === undefined) return { teamId: null, domainId: null };
  const { id: teamId } = await findTeam(deps, team);
  if (domain === undefined) return { teamId, domainId: null };
  const ctx: Ctx = { ...deps, teamId, actor: { kind: "operator" }, requestId: newId() };
  return { teamId, domainId: (await findDomain(ctx, domain)).id };
}

async function find(deps: Deps, name: string, { team }: Options): Promise<RelayView> {
  return findRelay(deps, name, team === undefined ? undefined : await findTeam(deps, team));
}

const formatScope = ({ team, domain }: RelayView): string =>
  team === null ? "for all teams" : domain === null ? `for team ${team}` : `for ${domain} of team ${team}`;

const formatDkim = ({ dkim, provider }: RelayView): string =>
  dkim
    ? "Backstamp adds its DKIM signatures."
    : `Backstamp does not add its DKIM signatures${provider === "ses" ? ", because SES would break them" : ""}. Enable DKIM at the provider.`;

const present = (relay: RelayView) => ({
  id: relay.id,
  name: relay.name,
  team: relay.team,
  team_id: relay.teamId,
  domain: relay.domain,
  position: relay.position,
  host: relay.host,
  dkim: relay.dkim,
  provider: relay.provider,
  paused: relay.isPaused,
  paused_until: relay.pausedUntil?.toISOString() ?? null,
  faults: relay.failures,
  last_fault: relay.lastFault,
  last_fault_at: relay.lastFaultAt?.toISOString() ?? null,
  created_at: relay.createdAt.toISOString(),
});
