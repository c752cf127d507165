import { performance } from "node:perf_hooks";
import { slowMs } from "./destination-throttles";
import { createSlots } from "./slots";

/** Messages are prepared ahead only while dialogues are shorter than this. */
const shortDialogueMs = 200;

/**
 * Runs `prepare`, then `converse` with its result; at most `dialoguesMax` calls of `converse` run in parallel. Up to four
 * times as many messages are prepared ahead: no slot is idle while a hand-over commits, and many hand-overs share a
 * commit. The cost is that a crash leaves more deliveries with an unknown outcome. Therefore preparing ahead stops while
 * dialogues are long, and for messages that need much memory (`isHeavy`): these are prepared after they have a slot.
 *
 * With `canMoveAside`, a dialogue that becomes slow releases its slot and continues outside the limit. A tarpit then
 * occupies a slot only for that long, while at most `asideMax` dialogues are aside.
 */
export type RunDialogue = <P, R>(
  isHeavy: boolean,
  prepare: () => Promise<P>,
  converse: (prepared: P) => Promise<R>,
  canMoveAside?: boolean,
) => Promise<R>;

export function createDialogueRunner(dialoguesMax: number, asideMax = 0): RunDialogue {
  const ahead = createSlots(dialoguesMax * 4);
  const dialogues = createSlots(dialoguesMax);
  let lastDialogueMs = Number.POSITIVE_INFINITY;
  let aside = 0;

  return async (isHeavy, prepare, converse, canMoveAside = true) => {
    await ahead.acquire();
    let early: { prepared: Awaited<ReturnType<typeof prepare>> } | null = null;
    try {
      if (!isHeavy && lastDialogueMs <= shortDialogueMs) early = { prepared: await prepare() };
      await dialogues.acquire();
    } finally {
      ahead.release();
    }
    let isAside = false;
    const moveAside = setTimeout(() => {
      if (!canMoveAside || aside >= asideMax) return;
      isAside = true;
      aside++;
      dialogues.release();
    }, slowMs);
    try {
      const prepared = early ? early.prepared : await prepare();
      const startedAtMs = performance.now();
      const result = await converse(prepared);
      lastDialogueMs = performance.now() - startedAtMs;
      return result;
    } finally {
      clearTimeout(moveAside);
      if (isAside) aside--;
      else dialogues.release();
    }
  };
}
