import type { Deps } from "#server/deps";
import { errorFacts } from "#server/platform/log";
import { SURROUNDINGS } from "../surroundings";
import { announceAlerts } from "./announce";
import {
  findBacklogs,
  findFaultySurroundings,
  findFullDisk,
  findOldBackup,
  findPausedRelays,
} from "./find-installation-conditions";
import {
  findDisabledEndpoints,
  findHighRates,
  findLostDomains,
  findPausedTeams,
  findUnalignedSources,
} from "./find-team-conditions";
import { deliverAlertCalls } from "./installation-webhook";
import type { AlertKind, Condition } from "./kinds";
import { pauseTeamsAboveRates } from "./pause-teams";
import { recordConditions } from "./record-conditions";
import { queueAlertEmails } from "./send-emails";

type Find = { kinds: readonly AlertKind[]; read: (deps: Deps) => Promise<Condition[]> };

/** How each kind is found. If one reading fails, its alerts stay as they are. */
const FIND: readonly Find[] = [
  { kinds: ["bounce_rate", "complaint_rate"], read: ({ hot }) => findHighRates(hot) },
  { kinds: ["domain_dns"], read: ({ hot }) => findLostDomains(hot) },
  { kinds: ["unaligned_source"], read: ({ hot }) => findUnalignedSources(hot) },
  { kinds: ["endpoint_disabled"], read: ({ hot }) => findDisabledEndpoints(hot) },
  { kinds: ["team_paused", "team_paused_by_rate"], read: ({ hot }) => findPausedTeams(hot) },
  { kinds: ["delivery_backlog", "webhook_backlog"], read: findBacklogs },
  { kinds: ["relay_paused"], read: findPausedRelays },
  { kinds: ["disk_space"], read: findFullDisk },
  { kinds: SURROUNDINGS, read: findFaultySurroundings },
  { kinds: ["backup_old"], read: findOldBackup },
];

/**
 * One round of the alerts: pauses teams above the operator's rates, records which conditions hold, and
 * notifies. A round that dies halfway is made up by the next one.
 */
export async function evaluateAlerts(deps: Deps): Promise<void> {
  await attempt(deps, "pauses", () => pauseTeamsAboveRates(deps));
  const kinds: AlertKind[] = [];
  const conditions: Condition[] = [];
  for (const find of FIND) {
    const found = await attempt(deps, find.kinds[0], () => find.read(deps));
    if (found === null) continue;
    kinds.push(...find.kinds);
    conditions.push(...found);
  }
  await recordConditions(deps.hot, kinds, conditions);
  await announceAlerts(deps);
  await queueAlertEmails(deps);
  await deliverAlertCalls(deps);
}

async function attempt<T>({ log }: Deps, part: string | undefined, run: () => Promise<T>): Promise<T | null> {
  try {
    return await run();
  } catch (error) {
    log.warn("alerts.not_evaluated", { part, ...errorFacts(error) });
    return null;
  }
}
