import { performance } from "node:perf_hooks";
import { slowMs } from "./destination";

/** Messages are prepared ahead only while dialogues are shorter than this. */
const shortDialogueMs = 200;
/** Messages prepared ahead, and slow dialogues aside, as multiples of the limit. */
const aheadFactor = 4;
const asideFactor = 4;

type DialogueRequest = { teamId: string; isHeavy: boolean; canMoveAside: boolean };

/**
 * Limits the concurrent dialogues of this worker, in which the teams take turns. `reserve` resolves when the
 * message may be prepared. Up to four times as many messages are prepared ahead: no slot is idle while a
 * hand-over commits, and many hand-overs share a commit. The cost is that a crash leaves more deliveries with
 * an unknown outcome. Therefore preparing ahead stops while dialogues are long, and for messages that need
 * much memory (`isHeavy`): these get their slot first.
 *
 * With `canMoveAside`, a dialogue that becomes slow releases its slot and continues outside the limit. A
 * tarpit then occupies a slot only for that long, while there are few enough dialogues aside.
 */
export function createDialogueSlots(dialoguesMax: number) {
  const ahead = createSemaphore(dialoguesMax * aheadFactor);
  const dialogues = createSemaphore(dialoguesMax);
  const asideMax = dialoguesMax * asideFactor;
  let lastDialogueMs = Number.POSITIVE_INFINITY;
  let aside = 0;

  return {
    async reserve({ teamId, isHeavy, canMoveAside }: DialogueRequest) {
      await ahead.acquire(teamId);
      let state: "ahead" | "slot" | "aside" | "ended" = "ahead";
      let startedAtMs: number | null = null;
      let timer: NodeJS.Timeout | undefined;

      const takeSlot = async () => {
        await dialogues.acquire(teamId);
        ahead.release();
        state = "slot";
        timer = setTimeout(() => {
          if (!canMoveAside || aside >= asideMax) return;
          state = "aside";
          aside++;
          dialogues.release();
        }, slowMs);
      };
      if (isHeavy || lastDialogueMs > shortDialogueMs) await takeSlot();

      return {
        /** Waits for a slot. */
        async start() {
          if (state === "ahead") await takeSlot();
          startedAtMs = performance.now();
        },
        /** Releases the slot. Further calls have no effect. */
        end() {
          clearTimeout(timer);
          if (startedAtMs !== null && state !== "ended") lastDialogueMs = performance.now() - startedAtMs;
          if (state === "ahead") ahead.release();
          else if (state === "slot") dialogues.release();
          else if (state === "aside") aside--;
          state = "ended";
        },
      };
    },
  };
}

/**
 * At most `max` holders. The teams take turns, and the callers of one team wait in order. Each `acquire` is
 * followed by one `release`.
 */
function createSemaphore(max: number) {
  /** By team, the one whose turn is next first. */
  const waiting = new Map<string, (() => void)[]>();
  let free = max;
  return {
    async acquire(teamId: string) {
      if (free > 0) free--;
      else
        await new Promise<void>((resolve) => {
          const ofTeam = waiting.get(teamId);
          if (ofTeam) ofTeam.push(resolve);
          else waiting.set(teamId, [resolve]);
        });
    },
    release() {
      const [turn] = waiting;
      if (!turn) return void free++;
      const [teamId, ofTeam] = turn;
      const next = ofTeam.shift();
      waiting.delete(teamId);
      if (ofTeam.length > 0) waiting.set(teamId, ofTeam);
      next?.();
    },
  };
}
