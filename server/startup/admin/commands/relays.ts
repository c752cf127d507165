import { RELAY_PROVIDERS } from "#db/schema/relays";
import type { Deps } from "#server/deps";
import { findDomain } from "#server/services/domains/read";
import { testRelay } from "#server/services/relays/connect";
import { findRelay, listPausedSmtpUrlRelays, listRelays, type RelayView } from "#server/services/relays/read";
import { addRelay, endRelayPause, pauseRelay, removeRelay, updateRelay } from "#server/services/relays/write";
import { findTeam } from "#server/services/teams";
import { RELAY_STATES } from "#server/shared/wire/relay-states";
import { presentRow } from "#server/shared/wire/shapes";
import { OperatorError } from "../../launcher/operator-error";
import { asDomain, asName, asText, numberOf, orWord, wordOf } from "../arguments";
import { argument, definedOf, examples, inDatabase, option, requiredOption } from "../command";
import { operatorCtx } from "../session";
import { listOutput, type Output, output, type Terminal } from "../terminal";

const probeMs = 30_000;
const positionMax = 1_000;

/** The arguments that name a relay. */
export const RELAY = {
  relay: argument("id or name of the relay", asText),
  team: option("team", "id or name of the team that the relay belongs to", asText),
};
const SETTINGS = {
  dkim: option(
    "state",
    "on or off: add Backstamp's DKIM signatures (default: on; off for SES, which rewrites signed headers)",
    wordOf(["on", "off"]),
  ),
  provider: option(
    "name",
    `${RELAY_PROVIDERS.join(", ")}, none (default: detected from the host)`,
    orWord("none", wordOf(RELAY_PROVIDERS)),
  ),
  position: option("number", "position in the routing order (default: last)", numberOf(1, positionMax)),
};

export const relayCommands = {
  add: inDatabase({
    about: "adds a relay; multiple relays are tried in the order of their positions",
    params: {
      name: argument("name of the relay", asName),
      url: argument("smtp://user:password@host:port or smtps://…; - reads it from standard input", asText),
      team: option("team", "only for this team, by id or name (default: for all teams)", asText),
      domain: option("domain", "only for email from this domain of the team (default: the first)", asDomain),
      ...SETTINGS,
    },
    help: examples(
      "relay add main smtp://user:password@smtp.example.com:587",
      "relay add spare - --team Sales --domain example.com < url.txt",
    ),
    run: async ({ deps }, { name, url: given, team, domain, dkim, provider, position }, terminal) => {
      const url = await readSecret(terminal, given);
      const scope = await scopeOf(deps, team, domain);
      const change = definedOf({ dkim: isOn(dkim), provider, position });
      const added = await addRelay(deps, { name, url, ...scope, ...change });
      return changedOutput(
        added,
        `Added relay ${added.name}. It carries email after a successful test, which a worker makes within seconds.`,
        `Test the connection and the login now: relay test ${added.name}`,
      );
    },
  }),

  list: inDatabase({
    about: "lists the relays with their state; failing and new ones are tested once a minute",
    run: async ({ deps }) => {
      const relays = (await listRelays(deps)).map(presentRow);
      const output = listOutput(relays, "No relays. Add one: relay add --help", rowOf);
      const paused = (await listPausedSmtpUrlRelays(deps)).map(
        ({ host, lastFault }) => `The relay of SMTP_URL (${host}) is paused. ${lastFault ?? ""}`,
      );
      return { ...output, notes: [...(output.notes ?? []), ...paused] };
    },
  }),

  set: inDatabase({
    about: "changes a relay",
    params: { ...RELAY, ...SETTINGS, url: option("url", "new URL; - reads it from standard input", asText) },
    needsOneOf: ["dkim", "provider", "position", "url"],
    run: async ({ deps }, { relay, team, dkim, provider, position, url: given }, terminal) => {
      const url = given === undefined ? undefined : await readSecret(terminal, given);
      const found = await findGivenRelay(deps, relay, team);
      const change = definedOf({ url, dkim: isOn(dkim), provider, position });
      const changed = await updateRelay(deps, found, change);
      const note = url === undefined ? "" : " It carries email again after a successful test.";
      return changedOutput(changed, `Updated relay ${changed.name}.${note}`);
    },
  }),

  remove: inDatabase({
    about: "removes a relay",
    params: RELAY,
    run: async ({ deps }, { relay, team }) => {
      const found = await findGivenRelay(deps, relay, team);
      await removeRelay(deps, found);
      return output(
        { id: found.id, removed: true },
        `Removed relay ${found.name}. Its queued email uses the next relay in the routing order.`,
      );
    },
  }),

  test: inDatabase({
    about: "connects and logs in without sending an email; on success a new or failing relay carries email",
    params: RELAY,
    run: async ({ deps }, { relay, team }) => {
      const { id, pauseReason } = await findGivenRelay(deps, relay, team);
      const { name, fault, isResumed } = await testRelay(deps, id, probeMs);
      if (fault !== null) throw new OperatorError(`Test of relay ${name} failed: ${fault}`);
      const resumed = isResumed ? " It carries email now." : "";
      const state = pauseReason === null ? resumed : " It stays paused by the operator.";
      return output(
        { id, works: true, resumed: isResumed },
        `Relay ${name} accepts the connection and the login.${state}`,
      );
    },
  }),

  pause: inDatabase({
    about: "pauses a relay: its email uses the next relay, or waits",
    params: { ...RELAY, reason: requiredOption("text", "shown with the email that waits", asText) },
    run: async ({ deps }, { relay, team, reason }) => {
      const found = await findGivenRelay(deps, relay, team);
      await pauseRelay(deps, found, reason);
      const paused = await findRelay(deps, found.id);
      return changedOutput(paused, `Paused relay ${found.name}. Dialogues in progress finish.`);
    },
  }),

  resume: inDatabase({
    about: "ends the pause of a relay by the operator",
    params: RELAY,
    run: async ({ deps }, { relay, team }) => {
      const found = await findGivenRelay(deps, relay, team);
      await endRelayPause(deps, found);
      const resumed = await findRelay(deps, found.id);
      return changedOutput(resumed, `Resumed relay ${found.name}. Email that waited for it is due.`);
    },
  }),
};

const isOn = (state: "on" | "off" | undefined) => (state === undefined ? undefined : state === "on");

/**
 * A secret argument; `-` reads it from standard input, which keeps it out of the process list and the shell
 * history.
 */
export const readSecret = async ({ readInput }: Terminal, given: string): Promise<string> =>
  given === "-" ? (await readInput()).trim() : given;

async function scopeOf(deps: Deps, team: string | undefined, domain: string | undefined) {
  if (team === undefined && domain === undefined) return { teamId: null, domainId: null };
  const { id: teamId } = await findTeam(deps, team);
  if (domain === undefined) return { teamId, domainId: null };
  return { teamId, domainId: (await findDomain(operatorCtx(deps, teamId), domain)).id };
}

export const findGivenRelay = async (deps: Deps, name: string, team?: string): Promise<RelayView> =>
  findRelay(deps, name, team === undefined ? undefined : await findTeam(deps, team));

function changedOutput(relay: RelayView, done: string, ...steps: string[]): Output {
  const json = presentRow(relay);
  const note = relay.dkim ? [] : ["Backstamp does not sign this relay's email. Enable DKIM at the provider."];
  return output(json, done, rowOf(json), ...note, ...steps);
}

type Row = ReturnType<typeof presentRow<RelayView>>;

const rowOf = ({ id, name, position, host, provider, ...relay }: Row) => ({
  for: [relay.domain, relay.team === null ? "all teams" : `team ${relay.team}`].filter(Boolean).join(" of "),
  position,
  name,
  host,
  dkim: relay.dkim ? "on" : "off",
  provider,
  state: RELAY_STATES[relay.state].toLowerCase(),
  id,
  last_fault_at: relay.last_fault_at,
  last_fault: relay.last_fault,
  pause_reason: relay.pause_reason,
});
