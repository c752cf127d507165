import { setTimeout as wait } from "node:timers/promises";
import { isClaimedBy } from "./audit";
import type { Player } from "./cast";
import { LABEL, type Load } from "./load";
import type { Stage } from "./records";
import type { Rig } from "./rig";

/** Whom something is to befall, and when in a mail's way. */
export type Moment = {
  who: Player | "postgres";
  aim: Stage | "random";
  /** Of the ways to reach that moment, where there are two. */
  variant: 0 | 1;
  /** The processes through which it is reached where PostgreSQL is the one. */
  web: 0 | 1;
  worker: 0 | 1;
};

/** How long a moment may let itself be waited for under load, before the kill comes anyhow. */
const patienceMs = 6_000;
const pollMs = 2;

/**
 * Waits until mail is at the stage that a kill aims at, and holds it there: packets on their way to the database, a
 * message in the sink. Nothing in the product knows of it. False when the moment did not come; what was held is let go
 * by `release`.
 */
export async function reachMoment(rig: Rig, load: Load, kill: Moment): Promise<boolean> {
  for (const one of actorsOf(kill.who)) await rig.cast.isUp(one);
  if (kill.aim === "random") return true;
  const giveUp = new AbortController();
  const late = wait(patienceMs, "late" as const, { signal: giveUp.signal }).catch(() => "late" as const);
  const first = await Promise.race([REACH[kill.aim](rig, load, kill, giveUp.signal), late]);
  giveUp.abort();
  return first !== "late";
}

/** Lets go of everything that was held. */
export function release(rig: Rig): void {
  for (const tap of Object.values(rig.taps)) tap.release();
  rig.releaseMail();
}

type Reach = (rig: Rig, load: Load, moment: Moment, signal: AbortSignal) => Promise<unknown>;

/** In the results that a worker writes, and in nothing else that it sends. */
const RESULT = "email.sent";

const actorsOf = (who: Moment["who"]): Player[] =>
  who === "postgres" ? ["web0", "web1", "worker0", "worker1"] : [who];
const webOf = ({ who, web }: Moment): 0 | 1 => (who === "web0" ? 0 : who === "web1" ? 1 : web);
const workerOf = ({ who, worker }: Moment): "worker0" | "worker1" =>
  who === "worker0" || who === "worker1" ? who : `worker${worker}`;

const REACH: Readonly<Record<Stage, Reach>> = {
  // The statement that would commit a mail is on its way and does not arrive.
  "before commit": (rig, _load, moment) => rig.taps[`web${webOf(moment)}`].holdAt("up", LABEL),

  // Committed a moment ago: the web process has not heard of it yet, or has just said so to the client.
  queued: (rig, load, moment) =>
    moment.who.startsWith("web") && moment.variant === 0
      ? rig.taps[`web${webOf(moment)}`].holdAt("down", LABEL)
      : load.nextAccepted(webOf(moment)),

  // Claimed, and whatever the worker wants to say about it does not get through.
  claimed: async (rig, _load, moment, signal) => {
    const who = workerOf(moment);
    const isClaimed = () => rig.ask((hot) => isClaimedBy(hot, who));
    while (!signal.aborted) {
      // Whoever waits for it may have gone on while the database was asked.
      if ((await isClaimed()) && !signal.aborted) {
        rig.taps[who].pause();
        // What was under way when the tap was shut has arrived by now.
        await wait(pollMs * 5);
        if (await isClaimed()) return;
        rig.taps[who].release();
      }
      await wait(pollMs);
    }
  },

  // The dialogue has begun: the server has the message, or part of it, and has kept nothing yet.
  "handed over": (rig, _load, moment) => rig.holdMail("unread", workerOf(moment)),

  // The server has it on disk. It has not said so yet, or the worker knows and cannot write it down.
  answered: (rig, _load, moment) =>
    moment.variant === 0
      ? rig.holdMail("written", workerOf(moment))
      : rig.taps[workerOf(moment)].holdAt("up", RESULT),
};
