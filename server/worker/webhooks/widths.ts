import { laneWidthStart } from "#db/webhook-queue";

const widthMax = 32;
/** Answers within this show that an endpoint could take more at once. */
const quickMs = 1_000;
const rememberedMax = 500;

/**
 * How many calls at once each endpoint has earned in this process: more with every quick answer, the first few again after
 * a failure. So a busy endpoint is drained quickly, and a slow one never fills the worker. Losing it costs a slow start.
 */
export type LaneWidths = {
  /** Of the endpoints that have more than the start. */
  earned: ReadonlyMap<string, number>;
  note(webhookId: string, isTaken: boolean, durationMs: number): void;
};

export function createLaneWidths(): LaneWidths {
  const earned = new Map<string, number>();
  return {
    earned,
    note(webhookId, isTaken, durationMs) {
      if (!isTaken) {
        earned.delete(webhookId);
        return;
      }
      const width = earned.get(webhookId) ?? laneWidthStart;
      if (durationMs > quickMs || width >= widthMax) return;
      // Those that earned something last are kept.
      earned.delete(webhookId);
      earned.set(webhookId, width + 1);
      const [oldest] = earned.keys();
      if (earned.size > rememberedMax && oldest !== undefined) earned.delete(oldest);
    },
  };
}
