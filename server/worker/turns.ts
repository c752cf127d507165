import { performance } from "node:perf_hooks";
import { slowMs } from "./paces";
import { createSlots } from "./slots";

/** While dialogues take longer than this, nobody prepares for one ahead of its place. */
const shortTalkMs = 200;

/**
 * Gives mails their turn: `prepare`, then `talk` with what it gave, of which only `dialoguesMax` run at once. Four times
 * as many are prepared meanwhile, so that no place stands empty while a hand-over commits, and many hand-overs share
 * a commit. The price is that a worker which dies leaves so many more rows unknown, so it is paid only while dialogues
 * are short: where places come free slowly, or `isHeavy` says that what is prepared fills the memory, a mail is prepared
 * when its place is there.
 *
 * Where the far side is many servers, a dialogue that has become slow gives its place to another one and goes on beside:
 * so tarpits hold no place longer than that, as long as there are no more than `asideMax` of them at once.
 */
export type Turns = <P, R>(
  isHeavy: boolean,
  prepare: () => Promise<P>,
  talk: (prepared: P) => Promise<R>,
  mayStepAside?: boolean,
) => Promise<R>;

export function createTurns(dialoguesMax: number, asideMax = 0): Turns {
  const ahead = createSlots(dialoguesMax * 4);
  const dialogues = createSlots(dialoguesMax);
  let lastTalkMs = Number.POSITIVE_INFINITY;
  let aside = 0;

  return async (isHeavy, prepare, talk, mayStepAside = true) => {
    await ahead.enter();
    let early: { prepared: Awaited<ReturnType<typeof prepare>> } | null = null;
    try {
      if (!isHeavy && lastTalkMs <= shortTalkMs) early = { prepared: await prepare() };
      await dialogues.enter();
    } finally {
      ahead.leave();
    }
    let isAside = false;
    const stepAside = setTimeout(() => {
      if (!mayStepAside || aside >= asideMax) return;
      isAside = true;
      aside++;
      dialogues.leave();
    }, slowMs);
    try {
      const prepared = early ? early.prepared : await prepare();
      const begunAtMs = performance.now();
      const result = await talk(prepared);
      lastTalkMs = performance.now() - begunAtMs;
      return result;
    } finally {
      clearTimeout(stepAside);
      if (isAside) aside--;
      else dialogues.leave();
    }
  };
}
