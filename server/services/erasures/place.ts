import type { HotTransaction } from "../emails/status";
import type { Eraser } from "./mentions";

/** What a step erases: one address in one team. */
export type ErasureStep = {
  teamId: string;
  eraser: Eraser;
  /** The last key that the step before has read; null at the start of the place. */
  after: string | null;
  /** Rows that were created before this id are complete; null in the first pass. */
  floor: string | null;
  suppresses: boolean;
};

/** `last`: the last key that was read, null at the end. `waiting`: emails that cannot be erased yet. */
export type StepResult = { last: string | null; counts: Record<string, number>; waiting: string[] };

/** A part of the stored data. A step reads a limited number of rows, in the order of their keys. */
export type ErasurePlace = {
  name: string;
  erase(tx: HotTransaction, step: ErasureStep): Promise<StepResult>;
};
