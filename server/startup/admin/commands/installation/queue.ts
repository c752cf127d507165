import type { Deps } from "#server/deps";
import {
  describeScope,
  listPauses,
  type Pause,
  pauseQueue,
  resumeQueue,
} from "#server/services/pauses/pause";
import { countWaiting, purgeQueue, waitingCountMax } from "#server/services/pauses/purge";
import { findScope, nameScope, type QueueScope } from "#server/services/pauses/scope";
import { QUEUE_STATES, queueCountMax, readQueueTotals } from "#server/services/pauses/totals";
import { OperatorError } from "../../../launcher/operator-error";
import { readDomain } from "../../arguments";
import { type AdminCommand, examples, runInDatabase } from "../../command";
import { operatorOf } from "../../session";
import { formatTable } from "../../terminal";

type ScopeOptions = { team?: string; domain?: string };
type ReasonOptions = ScopeOptions & { reason: string };

/** `queue status`, `queue pause`, `queue resume`, `queue purge`. */
export function addQueueCommands(program: AdminCommand): void {
  const queue = program
    .command("queue")
    .description("the queue of the whole installation, of a team, or of a sender domain");

  const pause = queue
    .command("pause")
    .description("pauses sending: email is accepted and stays queued")
    .requiredOption(...REASON)
    .addHelpText("after", PAUSE_HELP);
  runInDatabase(pause, async ({ deps }, { reason, ...options }: ReasonOptions) => {
    const scope = await pauseQueue(operatorOf(deps), { ...(await readScope(deps, options)), reason });
    return {
      json: { team_id: scope.teamId, domain: scope.domain, paused: true, reason },
      text: [
        `Paused sending for ${describeScope(scope)}. No worker starts another dialogue; those in progress finish.`,
      ],
    };
  });

  const resume = queue
    .command("resume")
    .description("ends a pause: what it delayed is due at once")
    .addHelpText(...examples("queue resume", "queue resume --team Sales"));
  runInDatabase(resume, async ({ deps }, options: ScopeOptions) => {
    const ctx = operatorOf(deps);
    const scope = await resumeQueue(ctx, await readScope(deps, options));
    const wider = (await listPauses(deps, "active")).filter((other) => isWider(other, scope));
    return {
      json: { team_id: scope.teamId, domain: scope.domain, paused: false },
      text: [`Resumed sending for ${describeScope(scope)}.`],
      notes: wider.map((other) => `Its email still waits: sending is paused for ${describeScope(other)}.`),
    };
  });

  const purge = queue
    .command("purge")
    .description("cancels the queued email permanently")
    .requiredOption(...REASON)
    .option("--confirm <name>", "the name of the queue: installation, the team's name, or the domain")
    .addHelpText("after", PURGE_HELP);
  runInDatabase(purge, async ({ deps }, options: ReasonOptions & { confirm?: string }) => {
    const ctx = operatorOf(deps);
    const given = await readScope(deps, options);
    const scope = await nameScope(deps, given);
    if (options.confirm === undefined) throw await missingConfirmation(deps, scope);
    const { reason, confirm } = options;
    let canceled = 0;
    for (let after: string | null = null; ; ) {
      const batch = await purgeQueue(ctx, { ...given, reason, confirm, after });
      canceled += batch.canceled;
      after = batch.next;
      if (after === null) break;
    }
    return {
      json: { team_id: scope.teamId, domain: scope.domain, canceled },
      text: [`Canceled ${canceled} queued deliveries of ${describeScope(scope)}.`],
    };
  });

  const status = queue.command("status").description("shows how much email waits, and what is paused");
  runInDatabase(status, async ({ deps }) => {
    const [{ states, isComplete }, pauses] = await Promise.all([
      readQueueTotals(deps),
      listPauses(deps, "active"),
    ]);
    const rows = QUEUE_STATES.map((state) => ({
      state,
      deliveries: states[state].count,
      oldest_due: states[state].oldestDueAt,
    }));
    return {
      json: {
        states: Object.fromEntries(QUEUE_STATES.map((state) => [state, present(states[state])])),
        pauses: pauses.map(presentPause),
      },
      text: [
        ...formatTable(rows),
        ...(pauses.length === 0 ? [] : ["", ...formatTable(pauses.map(rowOfPause))]),
      ],
      notes: [
        ...(isComplete
          ? []
          : [`The queue is longer. These are counts of its first ${queueCountMax} deliveries.`]),
        ...(pauses.length === 0 ? ["Nothing is paused."] : []),
      ],
    };
  });

  for (const command of [pause, resume, purge]) for (const option of SCOPE) command.option(...option);
}

const REASON = ["--reason <text>", "shown with every email that waits or is canceled"] as const;
const SCOPE: readonly [flags: string, meaning: string][] = [
  ["--team <team>", "only this team, by id or name (default: the whole installation)"],
  ["--domain <domain>", "only email from this domain (default team: the one that has the domain)"],
];

const PAUSE_HELP = `
Scheduled email keeps its schedule. System email, such as sign-in links, and webhooks are not paused.

Examples:
  queue pause --reason "The relay is being replaced"
  queue pause --team Sales --reason "Many complaints since this morning"
  queue pause --domain example.com --reason "SPF record is missing"`;

const PURGE_HELP = `
Cancels what is queued, also retries, in batches. Deliveries that a worker has claimed are not canceled: pause the queue first
and wait a few seconds. Scheduled email before its time, and email accepted meanwhile, stays. An interrupted purge can be
repeated. Without --confirm it shows how many deliveries it would cancel.

Example:
  queue purge --team Sales --reason "Sent to the wrong list" --confirm Sales`;

const readScope = (deps: Deps, { team, domain }: ScopeOptions): Promise<QueueScope> =>
  findScope(deps, { team: team ?? null, domain: domain === undefined ? null : readDomain(domain) });

const isWider = (other: QueueScope, { teamId, domain }: QueueScope): boolean =>
  other.teamId === null
    ? teamId !== null
    : other.teamId === teamId && other.domain === null && domain !== null;

async function missingConfirmation(
  deps: Deps,
  scope: Awaited<ReturnType<typeof nameScope>>,
): Promise<OperatorError> {
  const count = await countWaiting(deps, scope);
  const many = count === waitingCountMax ? `${count} or more` : String(count);
  return new OperatorError(
    `This would cancel ${many} queued deliveries of ${describeScope(scope)} permanently. To confirm, add: --confirm "${scope.name}"`,
  );
}

const present = ({ count, oldestDueAt }: { count: number; oldestDueAt: Date | null }) => ({
  deliveries: count,
  oldest_due_at: oldestDueAt?.toISOString() ?? null,
});

const presentPause = (pause: Pause) => ({
  team_id: pause.teamId,
  team: pause.teamName,
  domain: pause.domain,
  reason: pause.reason,
  by: pause.actorName ?? pause.actor,
  since: pause.createdAt.toISOString(),
});

const rowOfPause = (pause: Pause) => ({
  paused: describeScope(pause),
  reason: pause.reason,
  by: pause.actorName ?? pause.actor,
  since: pause.createdAt,
});
