import type { erasures } from "#db/schema/audit";
import type { HotTransaction } from "../emails/status";
import type { Eraser } from "./mentions";

/** What a step erases: one address in one team, from the place on that the step before has reached. */
export type ErasureStep = Pick<
  typeof erasures.$inferSelect,
  "teamId" | "addressHash" | "after" | "floor" | "waitingIds" | "halvings"
> & { eraser: Eraser };

export type Counts = Record<string, number>;

export type StepResult = {
  /** The last key that was read, null at the end. */
  last: string | null;
  counts: Counts;
  /** The emails that were read, and those of them that cannot be erased yet. */
  read?: readonly string[];
  waiting?: readonly string[];
  /** Idempotency keys that cannot be erased yet. */
  waitingKeys?: number;
};

/** Erases in one part of the stored data: in a limited number of rows, in the order of their keys. */
export type EraseStep = (tx: HotTransaction, step: ErasureStep) => Promise<StepResult>;

/** How many rows this step reads. */
export const rowsOf = ({ halvings }: ErasureStep, max: number): number => Math.max(1, max >> halvings);

/** Adds counts to these. */
export function addCounts(sums: Counts, counts: Counts): void {
  for (const [table, count] of Object.entries(counts)) sums[table] = (sums[table] ?? 0) + count;
}
