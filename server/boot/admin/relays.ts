import { text } from "node:stream/consumers";
import { type Command, InvalidArgumentError, Option } from "commander";
import { resumeRelay } from "#db/relays";
import { RELAY_PROVIDERS, type RelayProvider } from "#db/schema/relays";
import type { Ctx, Deps } from "#server/deps";
import { newId } from "#server/ids";
import { findDomain } from "#server/services/domains/read";
import { findRelay, listRelays, readSealedRelay, type ShownRelay } from "#server/services/relays/read";
import { addRelay, changeRelay, type RelayChange, removeRelay } from "#server/services/relays/write";
import { findTeam } from "#server/services/teams";
import { probeRelay } from "#server/worker/relays/open";
import { Refusal } from "../refusal";
import { addJsonOption, readDomain, readName } from "./arguments";
import { withDatabase } from "./session";
import { formatTime, say, sayJson, sayTable } from "./terminal";

type Options = { json?: true; team?: string };
type ChangeOptions = { dkim?: "on" | "off"; provider?: RelayProvider | "none"; position?: number };
type AddOptions = Options & ChangeOptions & { domain?: string };

const probeMs = 30_000;
const positionMax = 1_000;

/** `relay add`, `relay list`, `relay set`, `relay remove`, `relay test`. */
export function addRelayCommands(program: Command): void {
  const relay = program
    .command("relay")
    .description("mail servers that take our mail: for everybody, a team, or a domain");

  addJsonOption(
    addChangeOptions(
      relay
        .command("add")
        .description("makes a relay; several stand in for each other in the order of their positions")
        .argument("<name>", "what it is called", readName)
        .argument("<url>", "smtp://user:password@host:port or smtps://…; - reads it from standard input")
        .option("--team <team>", "only for this team, by id or name (default: for everybody)")
        .option(
          "--domain <domain>",
          "only for mail from this domain of the team (default: the first)",
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
        if (options.json) return sayJson(present(made));
        say(`Made relay ${made.name} to ${made.host}, ${sayScope(made)}. Workers take it from now on.`);
        say(sayDkim(made));
        say(`Whether it takes our connection and login: relay test ${made.name}`);
      });
    });

  addJsonOption(
    relay.command("list").description("lists the relays, and which are paused after faults"),
  ).action(async (options: Options) => {
    await withDatabase(async ({ deps }) => {
      const found = await listRelays(deps);
      if (options.json) return sayJson({ data: found.map(present) });
      sayTable(
        ["FOR", "POSITION", "NAME", "HOST", "DKIM", "PROVIDER", "STATE", "ID"],
        found.map((one) => [
          sayScope(one),
          String(one.position),
          one.name,
          one.host,
          one.dkim ? "on" : "off",
          one.provider ?? "",
          one.isPaused ? "PAUSED" : one.failures > 0 ? `${one.failures} faults` : "well",
          one.id,
        ]),
      );
      for (const one of found)
        if (one.isPaused || one.failures > 0)
          say(`${one.name}, ${formatTime(one.lastFaultAt ?? one.createdAt)}: ${one.lastFault}`);
    });
  });

  addJsonOption(
    addChangeOptions(addTeamOfRelay(relay.command("set").description("changes a relay"))).option(
      "--url <url>",
      "another URL; - reads it from standard input",
    ),
  )
    .addHelpText("after", "\nExamples:\n  relay set main --position 2\n  relay set main --url - < url.txt")
    .action(async (name: string, options: Options & ChangeOptions & { url?: string }) => {
      const url = options.url === undefined ? {} : { url: await readUrl(options.url) };
      await withDatabase(async ({ deps }) => {
        const changed = await changeRelay(deps, await find(deps, name, options), {
          ...url,
          ...changeOf(options),
        });
        if (options.json) return sayJson(present(changed));
        say(`Relay ${changed.name} to ${changed.host}, ${sayScope(changed)}, position ${changed.position}.`);
        say(sayDkim(changed));
      });
    });

  addJsonOption(addTeamOfRelay(relay.command("remove").description("ends a relay"))).action(
    async (name: string, options: Options) => {
      await withDatabase(async ({ deps }) => {
        const found = await find(deps, name, options);
        await removeRelay(deps, found);
        if (options.json) return sayJson({ id: found.id, removed: true });
        say(`Removed relay ${found.name}. What waited for it takes the next way that there is.`);
      });
    },
  );

  addJsonOption(
    addTeamOfRelay(
      relay
        .command("test")
        .description(
          "connects to a relay and logs in, without a mail; one that is paused goes on when it works",
        ),
    ),
  ).action(async (name: string, options: Options) => {
    await withDatabase(async ({ deps }) => {
      const found = await find(deps, name, options);
      const failure = await probeRelay(deps, await readSealedRelay(deps, found.id), probeMs);
      if (failure !== null) throw new Refusal(`Relay ${found.name} does not work: ${failure.reason}`);
      const isResumed = await resumeRelay(deps.hot, found.id);
      if (options.json) return sayJson({ id: found.id, works: true, resumed: isResumed });
      say(`Relay ${found.name} takes our connection${isResumed ? ", and is no longer paused" : ""}.`);
    });
  });
}

const ADD_HELP = `
A mail goes by the relays of its sender's domain, else by those of its team, else by everybody's, else by SMTP_URL. The next
relay of such a list is tried only where the one before surely did not take the mail. The URL is kept encrypted and never
shown again. A team's relay must be on the public Internet, or in a network of POSTHORN_EGRESS_ALLOW.

Examples:
  relay add main smtp://user:password@smtp.example.com:587
  relay add spare - --team Sales --domain example.com < url.txt`;

const addTeamOfRelay = (command: Command): Command =>
  command
    .argument("<relay>", "its id or name")
    .option("--team <team>", "the team whose relay it is, by id or name");

const addChangeOptions = (command: Command): Command =>
  command
    .addOption(
      new Option(
        "--dkim <state>",
        "whether our DKIM signatures go along (default: on; off for SES, which rewrites what they cover)",
      ).choices(["on", "off"]),
    )
    .addOption(
      new Option("--provider <name>", "whose server it is (default: by its host)").choices([
        ...RELAY_PROVIDERS,
        "none",
      ]),
    )
    .option("--position <number>", "its place in the order (default: the last)", readPosition);

function readPosition(given: string): number {
  const position = Number(given);
  if (!/^\d+$/.test(given) || position < 1 || position > positionMax)
    throw new InvalidArgumentError(`Give a number from 1 to ${positionMax}.`);
  return position;
}

/** From standard input no other process sees the password, and no history keeps it. */
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

async function find(deps: Deps, name: string, { team }: Options): Promise<ShownRelay> {
  return findRelay(deps, name, team === undefined ? undefined : await findTeam(deps, team));
}

const sayScope = ({ team, domain }: ShownRelay): string =>
  team === null ? "for everybody" : domain === null ? `for team ${team}` : `for ${domain} of team ${team}`;

const sayDkim = ({ dkim, provider }: ShownRelay): string =>
  dkim
    ? "Our DKIM signatures go along."
    : `Mail goes by it without our DKIM signatures${provider === "ses" ? ", which SES would break" : ""}: let the provider sign.`;

const present = (relay: ShownRelay) => ({
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
