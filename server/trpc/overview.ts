import { z } from "zod";
import { hasSentForReal, readDays, readHours } from "#server/services/overview/days";
import { listFailures } from "#server/services/overview/failures";
import { readParts, readSetup } from "#server/services/overview/health";
import { queueCountMax, readPace, readQueue } from "#server/services/overview/pace";
import { inTeam, router } from "./init";
import { viewFailure, viewPace, viewParts, viewQueue, viewSpans } from "./overview-views";
import { NoMore, strictInput } from "./strict";

/** Spans that the overview shows, in days. */
const DAYS = { today: 1, "7d": 7, "30d": 30 } as const;
const failuresShown = 6;
const dayMs = 86_400_000;

const Range = strictInput({ range: z.enum(["today", "7d", "30d"]) });

export const overviewRouter = router({
  /** What happened, by day or, of today, by hour, and how long it took. */
  traffic: inTeam("usage:read")
    .input(Range)
    .query(async ({ ctx: { service }, input: { range } }) => {
      const days = DAYS[range];
      const since = new Date(Math.floor(service.clock().getTime() / dayMs) * dayMs - (days - 1) * dayMs);
      const [counted, hours, pace] = await Promise.all([
        readDays(service, days),
        range === "today" ? readHours(service) : null,
        readPace(service, since),
      ]);
      return { ...viewSpans(counted, hours), pace: viewPace(pace) };
    }),
  /** What has not reached its end, and what went wrong last. */
  standing: inTeam("emails:read")
    .input(NoMore)
    .query(async ({ ctx: { service } }) => {
      const [queue, failures] = await Promise.all([readQueue(service), listFailures(service, failuresShown)]);
      return { queue: viewQueue(queue, queueCountMax), failures: failures.map(viewFailure) };
    }),
  /** What mail goes through, and what there has to be before the first real one. */
  parts: inTeam("usage:read")
    .input(NoMore)
    .query(async ({ ctx: { service } }) => {
      const [parts, setup, hasSent] = await Promise.all([
        readParts(service),
        readSetup(service),
        hasSentForReal(service),
      ]);
      return { ...viewParts(parts), setup: { ...setup, hasSent } };
    }),
});
