import { Option } from "commander";
import { RELAY_PROVIDERS, type RelayProvider } from "#db/schema/relays";
import type { Deps } from "#server/deps";
import { findDomain } from "#server/services/domains/read";
import { testRelay } from "#server/services/relays/connect";
import { findRelay, listPausedSmtpUrlRelays, listRelays, type RelayView } from "#server/services/relays/read";
import {
  addRelay,
  endRelayPause,
  pauseRelay,
  type RelayChange,
  removeRelay,
  updateRelay,
} from "#server/services/relays/write";
import { findTeam } from "#server/services/teams";
import { RELAY_STATES } from "#server/shared/wire/relay-states";
import { OperatorError } from "../../launcher/operator-error";
import { readDomain, readName, readPosition } from "../arguments";
import { type AdminCommand, examples, runInDatabase } from "../command";
import { operatorCtx } from "../session";
import { listOutput, type Output } from "../terminal";

export type RelayOptions = { team?: string };
type ChangeOptions = {
  url?: string;
  dkim?: "on" | "off";
  provider?: RelayProvider | "none";
  position?: number;
};
type AddOptions = RelayOptions & ChangeOptions & { domain?: string };

const probeMs = 30_000;

/** `relay add`, `relay list`, `relay set`, `relay remove`, `relay test`, `relay pause`, `relay resume`. */
export function addRelayCommands(program: AdminCommand): void {
  const relay = program
    .command("relay")
    .description("SMTP servers of providers that send email for all teams, one team, or one domain");

  const add = relay
    .command("add")
    .description("adds a relay; multiple relays are tried in the order of their positions")
    .argument("<name>", "name of the relay", readName)
    .argument("<url>", "smtp://user:password@host:port or smtps://…; - reads it from standard input")
    .option("--team <team>", "only for this team, by id or name (default: for all teams)")
    .option(
      "--domain <domain>",
      "only for email from this domain of the team (default team: the first team)",
      readDomain,
    )
    .addOption(DKIM)
    .addOption(PROVIDER)
    .option(...POSITION, readPosition)
    .addHelpText("after", ADD_HELP);
  runInDatabase(add, async ({ deps }, name: string, given: string, options: AddOptions) => {
    const url = await readSecret(add, given);
    const scope = await scopeOf(deps, options);
    const added = await addRelay(deps, { name, url, ...scope, ...changeOf(options) });
    return changedOutput(
      added,
      `Added relay ${added.name}. It carries email after a successful test, which a worker makes within seconds.`,
      `Test the connection and the login now: relay test ${added.name}`,
    );
  });

  const list = relay
    .command("list")
    .description(
      "lists the relays with their state; failing and new ones are tested once a minute and carry no email",
    );
  runInDatabase(list, async ({ deps }) => {
    const output = listOutput(
      (await listRelays(deps)).map(present),
      rowOf,
      "No relays. Add one: relay add --help",
    );
    const paused = (await listPausedSmtpUrlRelays(deps)).map(
      ({ host, lastFault }) => `The relay of SMTP_URL (${host}) is paused. ${lastFault ?? ""}`,
    );
    return { ...output, notes: [...(output.notes ?? []), ...paused] };
  });

  const set = relay
    .command("set")
    .description("changes a relay")
    .argument(...RELAY)
    .option(...RELAY_TEAM)
    .addOption(DKIM)
    .addOption(PROVIDER)
    .option(...POSITION, readPosition)
    .option("--url <url>", "new URL; - reads it from standard input")
    .addHelpText(...examples("relay set main --position 2", "relay set main --url - < url.txt"));
  runInDatabase(set, async ({ deps }, name: string, options: RelayOptions & ChangeOptions) => {
    const url = options.url === undefined ? {} : { url: await readSecret(set, options.url) };
    const found = await findGivenRelay(deps, name, options);
    const changed = await updateRelay(deps, found, { ...url, ...changeOf(options) });
    const note = options.url === undefined ? "" : " It carries email again after a successful test.";
    return changedOutput(changed, `Updated relay ${changed.name}.${note}`);
  });

  const remove = relay
    .command("remove")
    .description("removes a relay")
    .argument(...RELAY)
    .option(...RELAY_TEAM);
  runInDatabase(remove, async ({ deps }, name: string, options: RelayOptions) => {
    const found = await findGivenRelay(deps, name, options);
    await removeRelay(deps, found);
    return {
      json: { id: found.id, removed: true },
      text: [`Removed relay ${found.name}. Its queued email uses the next relay in the routing order.`],
    };
  });

  const test = relay
    .command("test")
    .description(
      "connects to a relay and logs in, without sending an email; on success a new or failing relay carries email",
    )
    .argument(...RELAY)
    .option(...RELAY_TEAM);
  runInDatabase(test, async ({ deps }, given: string, options: RelayOptions) => {
    const { id, pauseReason } = await findGivenRelay(deps, given, options);
    const { name, fault, isResumed } = await testRelay(deps, id, probeMs);
    if (fault !== null) throw new OperatorError(`Test of relay ${name} failed: ${fault}`);
    const state =
      pauseReason !== null ? " It stays paused by the operator." : isResumed ? " It carries email now." : "";
    return {
      json: { id, works: true, resumed: isResumed },
      text: [`Relay ${name} accepts the connection and the login.${state}`],
    };
  });

  const pause = relay
    .command("pause")
    .description("pauses a relay: its email uses the next relay, or waits")
    .argument(...RELAY)
    .option(...RELAY_TEAM)
    .requiredOption("--reason <text>", "shown with the email that waits")
    .addHelpText(...examples('relay pause main --reason "Its address is on a blocklist"'));
  runInDatabase(pause, async ({ deps }, given: string, options: RelayOptions & { reason: string }) => {
    const found = await findGivenRelay(deps, given, options);
    await pauseRelay(deps, found, options.reason);
    return changedOutput(
      await findRelay(deps, found.id),
      `Paused relay ${found.name}. Dialogues in progress finish.`,
    );
  });

  const resume = relay
    .command("resume")
    .description("ends the pause of a relay by the operator")
    .argument(...RELAY)
    .option(...RELAY_TEAM);
  runInDatabase(resume, async ({ deps }, given: string, options: RelayOptions) => {
    const found = await findGivenRelay(deps, given, options);
    await endRelayPause(deps, found);
    return changedOutput(
      await findRelay(deps, found.id),
      `Resumed relay ${found.name}. Email that waited for it is due.`,
    );
  });
}

const ADD_HELP = `
Routing uses the relays of the sender's domain. If there are none, it uses those of the team, then those of all teams, then
SMTP_URL. The next relay of a list is tried only if the previous one certainly did not accept the email. The URL is stored
encrypted and never shown again. A team's relay must be on the public Internet, or in a network of BACKSTAMP_EGRESS_ALLOW.

Examples:
  relay add main smtp://user:password@smtp.example.com:587
  relay add spare - --team Sales --domain example.com < url.txt`;

export const RELAY = ["<relay>", "id or name of the relay"] as const;
export const RELAY_TEAM = ["--team <team>", "id or name of the team that the relay belongs to"] as const;
const POSITION = ["--position <number>", "position in the routing order (default: last)"] as const;
const DKIM = new Option(
  "--dkim <state>",
  "add Backstamp's DKIM signatures (default: on; off for SES, which rewrites signed headers)",
).choices(["on", "off"]);
const PROVIDER = new Option(
  "--provider <name>",
  "provider of the relay (default: detected from the host)",
).choices([...RELAY_PROVIDERS, "none"]);

/**
 * A secret argument; `-` reads it from standard input, which keeps it out of the process list and the shell
 * history.
 */
export const readSecret = async ({ terminal }: AdminCommand, given: string): Promise<string> =>
  given === "-" ? (await terminal.readInput()).trim() : given;

const changeOf = ({ dkim, provider, position }: ChangeOptions): RelayChange => ({
  ...(dkim !== undefined && { dkim: dkim === "on" }),
  ...(provider !== undefined && { provider: provider === "none" ? null : provider }),
  ...(position !== undefined && { position }),
});

async function scopeOf(deps: Deps, { team, domain }: AddOptions) {
  if (team === undefined && domain === undefined) return { teamId: null, domainId: null };
  const { id: teamId } = await findTeam(deps, team);
  if (domain === undefined) return { teamId, domainId: null };
  return { teamId, domainId: (await findDomain(operatorCtx(deps, teamId), domain)).id };
}

export const findGivenRelay = async (deps: Deps, name: string, { team }: RelayOptions): Promise<RelayView> =>
  findRelay(deps, name, team === undefined ? undefined : await findTeam(deps, team));

function changedOutput(relay: RelayView, done: string, ...steps: string[]): Output {
  const json = present(relay);
  const note = relay.dkim ? [] : ["Backstamp does not sign this relay's email. Enable DKIM at the provider."];
  return { json, text: [done, rowOf(json), ...note, ...steps] };
}

type Presented = ReturnType<typeof present>;

const rowOf = (relay: Presented) => ({
  for:
    relay.team === null
      ? "all teams"
      : relay.domain === null
        ? `team ${relay.team}`
        : `${relay.domain} of team ${relay.team}`,
  position: relay.position,
  name: relay.name,
  host: relay.host,
  dkim: relay.dkim ? "on" : "off",
  provider: relay.provider,
  state: RELAY_STATES[relay.state].toLowerCase(),
  id: relay.id,
  last_fault_at: relay.last_fault_at,
  last_fault: relay.last_fault,
  pause_reason: relay.pause_reason,
});

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
  state: relay.state,
  paused: relay.isPaused,
  paused_until: relay.pausedUntil,
  pause_reason: relay.pauseReason,
  faults: relay.failures,
  last_fault: relay.lastFault,
  last_fault_at: relay.lastFaultAt,
  created_at: relay.createdAt,
});
