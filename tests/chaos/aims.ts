import { setTimeout as wait } from "node:timers/promises";
import { LABEL, type Load } from "./load";
import type { Stage } from "./records";
import type { Rig } from "./rig";
import type { PlannedKill } from "./schedule";

/** How long a moment may let itself be waited for under load, before the kill comes anyhow. */
const patienceMs = 6_000;
const pollMs = 2;

/**
 * Waits until mail is at the stage that a kill aims at, and holds it there: packets on their way to the database, a
 * message in the sink. Nothing in the product knows of it. False when the moment did not come; what was held is let go
 * by `release`.
 */
export async function reachMoment(rig: Rig, load: Load, kill: PlannedKill): Promise<boolean> {
  await rig.webIsUp(kill.web);
  if (kill.aim === "random") return true;
  const giveUp = new AbortController();
  const late = wait(patienceMs, "late" as const, { signal: giveUp.signal }).catch(() => "late" as const);
  const first = await Promise.race([REACH[kill.aim](rig, load, kill, giveUp.signal), late]);
  giveUp.abort();
  return first !== "late";
}

/** Lets go of everything that was held. */
export function release(rig: Rig): void {
  for (const tap of [...rig.webTaps, rig.workerTap]) tap.release();
  rig.releaseMail();
}

type Reach = (rig: Rig, load: Load, kill: PlannedKill, signal: AbortSignal) => Promise<unknown>;

/** In the results that a worker writes, and in nothing else that it sends. */
const RESULT = "email.sent";

const REACH: Readonly<Record<Stage, Reach>> = {
  // The statement that would commit a mail is on its way and does not arrive.
  "before commit": (rig, _load, { web }) => rig.webTaps[web].holdAt("up", LABEL),

  // Committed a moment ago: the web process has not heard of it yet, or has just said so to the client.
  queued: (rig, load, { victim, variant, web }) =>
    victim === "web" && variant === 0 ? rig.webTaps[web].holdAt("down", LABEL) : load.nextAccepted(web),

  // Claimed, and whatever the worker wants to say about it does not get through.
  claimed: async (rig, _load, _kill, signal) => {
    while (!signal.aborted) {
      if (await isAnyClaimed(rig)) {
        rig.workerTap.pause();
        // What was under way when the tap was shut has arrived by now.
        await wait(pollMs * 5);
        if (await isAnyClaimed(rig)) return;
        rig.workerTap.release();
      }
      await wait(pollMs);
    }
  },

  // The dialogue has begun: the server has the message, or part of it, and has kept nothing yet.
  "handed over": (rig) => rig.holdMail("unread"),

  // The server has it on disk. It has not said so yet, or the worker knows and cannot write it down.
  answered: (rig, _load, { variant }) =>
    variant === 0 ? rig.holdMail("written") : rig.workerTap.holdAt("up", RESULT),
};

async function isAnyClaimed(rig: Rig): Promise<boolean> {
  const rows = await rig.ask(
    (hot) => hot`select 1 from deliveries where status = 'sending' and stage = 'claimed' limit 1`,
  );
  return rows.length > 0;
}
