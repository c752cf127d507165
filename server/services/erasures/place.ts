import type { HotTransaction } from "../emails/status";
import type { Eraser } from "./mentions";

/** What a step erases: one address in one team. */
export type ErasureStep = {
  teamId: string;
  eraser: Eraser;
  /** What the suppression list and the receipt have instead of the address. */
  hash: string;
  /** The last key that the step before has read; null at the start of the place. */
  after: string | null;
  /** Rows that were created before this id are complete; null in the first pass. */
  floor: string | null;
  /** Emails that an earlier step could not erase yet, in the order of their ids. */
  waitingIds: readonly string[];
  /** How often the number of rows is halved, because a step took too long. */
  halvings: number;
};

export type StepResult = {
  /** The last key that was read, null at the end. */
  last: string | null;
  counts: Record<string, number>;
  /** The emails that were read, and those of them that cannot be erased yet. */
  read?: readonly string[];
  waiting?: readonly string[];
  /** Idempotency keys that cannot be erased yet. */
  waitingKeys?: number;
};

/** A part of the stored data. A step reads a limited number of rows, in the order of their keys. */
export type ErasurePlace = {
  name: string;
  erase(tx: HotTransaction, step: ErasureStep): Promise<StepResult>;
};

/** How many rows this step reads. */
export const rowsOf = ({ halvings }: ErasureStep, max: number): number => Math.max(1, max >> halvings);
