import type { Deps } from "#server/deps";
import { countWaiting, purgeQueue, waitingCountMax } from "#server/services/emails/change/purge";
import {
  describeScope,
  listPauses,
  type Pause,
  pauseQueue,
  resumeQueue,
} from "#server/services/pauses/pause";
import { findScope, nameScope, type QueueScope } from "#server/services/pauses/scope";
import { getQueueTotals, QUEUE_STATES, queueCountMax } from "#server/services/pauses/totals";
import { OperatorError } from "../../../launcher/operator-error";
import { asDomain, asText } from "../../arguments";
import { examples, inDatabase, option, requiredOption } from "../../command";
import { operatorOf } from "../../session";
import { formatTable, output } from "../../terminal";

const SCOPE = {
  team: option("team", "only this team, by id or name (default: the whole installation)", asText),
  domain: option(
    "domain",
    "only email from this domain (default team: the one that has the domain)",
    asDomain,
  ),
};
const reason = requiredOption("text", "shown with every email that waits or is canceled", asText);

export const queueCommands = {
  status: inDatabase({
    about: "shows how much email waits, and what is paused",
    run: async ({ deps }) => {
      const [{ states, isComplete }, active] = await Promise.all([
        getQueueTotals(deps),
        listPauses(deps, "active"),
      ]);
      const totals = QUEUE_STATES.map((state) => ({
        state,
        deliveries: states[state].count,
        oldest_due_at: states[state].oldestDueAt?.toISOString() ?? null,
      }));
      const pauses = active.map(presentPause);
      const shown = active.map((pause, at) => ({ paused: describeScope(pause), ...pauses[at] }));
      return {
        json: { states: Object.fromEntries(totals.map(({ state, ...total }) => [state, total])), pauses },
        text: [...formatTable(totals), ...(shown.length > 0 ? ["", ...formatTable(shown)] : [])],
        notes: [
          ...(isComplete
            ? []
            : [`The queue is longer. These are counts of its first ${queueCountMax} deliveries.`]),
          ...(pauses.length === 0 ? ["Nothing is paused."] : []),
        ],
      };
    },
  }),

  pause: inDatabase({
    about: "pauses sending: email is accepted and stays queued; webhooks and system email are not paused",
    params: { ...SCOPE, reason },
    help: examples(
      'queue pause --reason "The relay is being replaced"',
      'queue pause --domain example.com --reason "SPF record is missing"',
    ),
    run: async ({ deps }, { reason, ...given }) => {
      const scope = await pauseQueue(operatorOf(deps), { ...(await readScope(deps, given)), reason });
      return output(
        { team_id: scope.teamId, domain: scope.domain, paused: true, reason },
        `Paused sending for ${describeScope(scope)}. No worker starts another dialogue; those in progress finish.`,
      );
    },
  }),

  resume: inDatabase({
    about: "ends a pause: what it delayed is due at once",
    params: SCOPE,
    run: async ({ deps }, given) => {
      const scope = await resumeQueue(operatorOf(deps), await readScope(deps, given));
      const wider = (await listPauses(deps, "active")).filter((other) => isWider(other, scope));
      return {
        json: { team_id: scope.teamId, domain: scope.domain, paused: false },
        text: [`Resumed sending for ${describeScope(scope)}.`],
        notes: wider.map((other) => `Its email still waits: sending is paused for ${describeScope(other)}.`),
      };
    },
  }),

  purge: inDatabase({
    about: "cancels the queued email permanently; pause the queue first, since claimed email is not canceled",
    params: {
      ...SCOPE,
      reason,
      confirm: option("name", "the queue: installation, the team's name, or the domain", asText),
    },
    help: examples('queue purge --team Sales --reason "Sent to the wrong list" --confirm Sales'),
    run: async ({ deps }, { reason, confirm, ...options }) => {
      const given = await readScope(deps, options);
      const scope = await nameScope(deps, given);
      if (confirm === undefined) throw await missingConfirmation(deps, scope);
      let canceled = 0;
      for (let after: string | null = null; ; ) {
        const batch = await purgeQueue(operatorOf(deps), { ...given, reason, confirm, after });
        canceled += batch.canceled;
        after = batch.next;
        if (after === null) break;
      }
      return output(
        { team_id: scope.teamId, domain: scope.domain, canceled },
        `Canceled ${canceled} queued deliveries of ${describeScope(scope)}.`,
      );
    },
  }),
};

type GivenScope = { team: string | undefined; domain: string | undefined };

const readScope = (deps: Deps, { team, domain }: GivenScope) =>
  findScope(deps, { team: team ?? null, domain: domain ?? null });

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

const presentPause = (pause: Pause) => ({
  reason: pause.reason,
  by: pause.actorName ?? pause.actor,
  since: pause.createdAt.toISOString(),
  team_id: pause.teamId,
  team: pause.teamName,
  domain: pause.domain,
});
