import { z } from "zod";
import { hasSentFromOwnDomain, readDays, readHours } from "#server/services/overview/days";
import { listFailures } from "#server/services/overview/failures";
import { readParts, readSetup } from "#server/services/overview/health";
import { readDeliveryTimes, readQueue } from "#server/services/overview/queue";
import { inTeam, router } from "../init";
import { strictInput, TeamInput } from "../strict";
import { viewFailure, viewParts, viewQueue, viewSpans } from "./views";

/** Time ranges of the overview, in days. */
const DAYS = { today: 1, "7d": 7, "30d": 30 } as const;
const failuresShown = 6;
const dayMs = 86_400_000;

const Range = strictInput({ range: z.enum(["today", "7d", "30d"]) });

export const overviewRouter = router({
  /** Counts per day, or per hour for today, and the delivery times. */
  traffic: inTeam("usage:read")
    .input(Range)
    .query(async ({ ctx: { service }, input: { range } }) => {
      const days = DAYS[range];
      const since = new Date(Math.floor(service.clock().getTime() / dayMs) * dayMs - (days - 1) * dayMs);
      const [counted, hours, latency] = await Promise.all([
        readDays(service, days),
        range === "today" ? readHours(service) : null,
        readDeliveryTimes(service, since),
      ]);
      return { ...viewSpans(counted, hours), latency };
    }),
  /** The queue and the recent failures. */
  standing: inTeam("emails:read")
    .input(TeamInput)
    .query(async ({ ctx: { service } }) => {
      const [queue, failures] = await Promise.all([readQueue(service), listFailures(service, failuresShown)]);
      return { queue: viewQueue(queue), failures: failures.map(viewFailure) };
    }),
  /** The state of relays, webhooks and worker, and the remaining setup steps before the first real email. */
  parts: inTeam("usage:read")
    .input(TeamInput)
    .query(async ({ ctx: { service } }) => {
      const [parts, setup, hasSent] = await Promise.all([
        readParts(service),
        readSetup(service),
        hasSentFromOwnDomain(service),
      ]);
      return { ...viewParts(parts), setup: { ...setup, hasSent } };
    }),
});
