import { setTimeout as wait } from "node:timers/promises";
import { isClaimedBy } from "./audit";
import { LABEL, type Load } from "./load";
import type { ProcessName } from "./processes";
import type { Stage } from "./records";
import type { Rig } from "./rig";

/** The process that a kill hits, and the stage of an email at which it hits. */
export type KillPoint = {
  who: ProcessName | "postgres";
  aim: Stage | "random";
  /** Which of two possible sequences leads to that stage. */
  variant: 0 | 1;
  /** The processes involved if PostgreSQL is killed. */
  web: 0 | 1;
  worker: 0 | 1;
};

/** Maximum wait for the stage under load, after which the kill happens anyway. */
const patienceMs = 6_000;
const pollMs = 2;

/**
 * Waits until an email is at the stage of a kill, and holds it there: packets on their way to the database,
 * or a message in the sink. The product does not know about it. False if the stage was not reached. `release`
 * releases what was held.
 */
export async function reachKillPoint(rig: Rig, load: Load, kill: KillPoint): Promise<boolean> {
  for (const one of actorsOf(kill.who)) await rig.processes.isUp(one);
  if (kill.aim === "random") return true;
  const timeout = new AbortController();
  const late = wait(patienceMs, "late" as const, { signal: timeout.signal }).catch(() => "late" as const);
  const first = await Promise.race([REACH[kill.aim](rig, load, kill, timeout.signal), late]);
  timeout.abort();
  return first !== "late";
}

/** Releases everything that was held. */
export function release(rig: Rig): void {
  for (const tap of Object.values(rig.taps)) tap.release();
  rig.releaseMessage();
}

type Reach = (rig: Rig, load: Load, killPoint: KillPoint, signal: AbortSignal) => Promise<unknown>;

/** Only in the results that a worker writes. */
const RESULT = "email.sent";

const actorsOf = (who: KillPoint["who"]): ProcessName[] =>
  who === "postgres" ? ["web0", "web1", "worker0", "worker1"] : [who];
const webOf = ({ who, web }: KillPoint): 0 | 1 => (who === "web0" ? 0 : who === "web1" ? 1 : web);
const workerOf = ({ who, worker }: KillPoint): "worker0" | "worker1" =>
  who === "worker0" || who === "worker1" ? who : `worker${worker}`;

const REACH: Readonly<Record<Stage, Reach>> = {
  // The statement that would commit an email is sent and does not arrive.
  "before commit": (rig, _load, killPoint) => rig.taps[`web${webOf(killPoint)}`].holdAt("up", LABEL),

  // Just committed: the web process has not received the response yet, or has just responded to the client.
  queued: (rig, load, killPoint) =>
    killPoint.who.startsWith("web") && killPoint.variant === 0
      ? rig.taps[`web${webOf(killPoint)}`].holdAt("down", LABEL)
      : load.nextAccepted(webOf(killPoint)),

  // Claimed, and what the worker writes about it does not arrive.
  claimed: async (rig, _load, killPoint, signal) => {
    const who = workerOf(killPoint);
    const isClaimed = () => rig.ask((hot) => isClaimedBy(hot, who));
    while (!signal.aborted) {
      // The waiting process may have continued while the database was queried.
      if ((await isClaimed()) && !signal.aborted) {
        rig.taps[who].pause();
        // What was in progress when the tap was closed has arrived by now.
        await wait(pollMs * 5);
        if (await isClaimed()) return;
        rig.taps[who].release();
      }
      await wait(pollMs);
    }
  },

  // The dialogue has begun: the server has all or part of the message and has stored nothing yet.
  "handed over": (rig, _load, killPoint) => rig.holdMessage("unread", workerOf(killPoint)),

  // The server has it on disk. It has not replied yet, or the worker has the reply and cannot write the
  // result.
  answered: (rig, _load, killPoint) =>
    killPoint.variant === 0
      ? rig.holdMessage("written", workerOf(killPoint))
      : rig.taps[workerOf(killPoint)].holdAt("up", RESULT),
};
