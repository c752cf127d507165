import { z } from "zod";
import type { Ctx } from "#server/deps";
import type { MetricsFilter } from "#server/services/metrics/sum";
import { getParts, getSetup, type Parts } from "#server/services/overview/health";
import {
  type Failure,
  getDeliveryTimes,
  getQueue,
  listFailures,
  type Queue,
} from "#server/services/overview/queue";
import { type DayRange, getTraffic, lastDays, listTagTraffic } from "#server/services/overview/traffic";
import {
  getHeldAfterRestore,
  type HeldEmail,
  heldCountMax,
  type Restore,
  settleHeld,
} from "#server/services/restores/held";
import { presentEmailSummary } from "#server/shared/wire/email";
import { stateOfRelay } from "#server/shared/wire/relay-states";
import { type WithIsoTimes, withIsoTimes } from "#server/shared/wire/shapes";
import { inTeam, joined, router } from "../init";
import { viewTags, viewTraffic } from "./traffic-view";

/** Time ranges of the overview that end today, in days. */
const DAYS = { today: 1, "7d": 7, "30d": 30, "90d": 90 } as const;
const failuresShown = 6;

const Day = z.iso.date("Select a day.").refine((day) => day >= "1970-01-02" && day < "9998", "Select a day.");

const TrafficInput = {
  /** `days`: from `since` to `until`. */
  range: z.enum(["today", "7d", "30d", "90d", "days"]),
  since: Day.optional(),
  until: Day.optional(),
  domain: z.string().max(253).optional(),
  key: z.uuid().optional(),
  /** As `name:value`. */
  tag: z.string().max(513).optional(),
};

/** The days and the filter of an input. */
function selectionOf(
  service: Ctx,
  { range, since, until, domain, key, tag }: z.infer<z.ZodObject<typeof TrafficInput>>,
): [DayRange, MetricsFilter] {
  const week = lastDays(service, DAYS["7d"]);
  const days =
    range === "days"
      ? { since: since ?? until ?? week.since, until: until ?? since ?? week.until }
      : lastDays(service, DAYS[range]);
  return [days, { domains: domain === undefined ? null : [domain], apiKeyId: key, tag }];
}

export type QueueView = WithIsoTimes<Queue>;

const viewFailure = ({ email, ...cause }: Failure) => ({ ...presentEmailSummary(email), ...cause });
export type FailureView = ReturnType<typeof viewFailure>;

const viewParts = (parts: Parts) =>
  withIsoTimes({
    ...parts,
    relays: parts.relays.map((relay) => ({ ...relay, state: stateOfRelay(relay) })),
  });
export type PartsView = ReturnType<typeof viewParts>;

const SettleHeld = {
  to: z.enum(["release", "cancel"]),
  /** Only email accepted at or after this time, and at or before this one; the rest stays held. */
  acceptedAfter: z.iso.datetime().optional(),
  acceptedBefore: z.iso.datetime().optional(),
  /** Only email scheduled for a later time. */
  scheduledAfter: z.iso.datetime().optional(),
  /** `next` of the part before; null at the start. */
  next: z.string().max(1_000).nullable(),
};
const timeOrNull = (text: string | undefined) => (text === undefined ? null : new Date(text));

const viewHeld = ({ deliveries, oldestAt, newestAt }: HeldEmail, { takenAt }: Restore) =>
  withIsoTimes({
    deliveries: Math.min(deliveries, heldCountMax),
    hasMore: deliveries > heldCountMax,
    oldestAt,
    newestAt,
    /** When the restored backup was made. */
    backupAt: takenAt,
  });
export type HeldView = ReturnType<typeof viewHeld>;

export const overviewRouter = router({
  /** Recipients per day, or per hour of one day, with the time before, and the delivery times. */
  traffic: inTeam("usage:read", TrafficInput).query((call) =>
    joined(call, async (service) => {
      const traffic = await getTraffic(service, ...selectionOf(service, call.input));
      return { ...viewTraffic(traffic), latency: await getDeliveryTimes(service, traffic.startAt) };
    }),
  ),
  /** The tags with the most recipients of the same emails, whatever the filter by tag. */
  tags: inTeam("usage:read", TrafficInput).query((call) =>
    joined(call, async (service) =>
      viewTags(await listTagTraffic(service, ...selectionOf(service, call.input))),
    ),
  ),
  /** The queue and the recent failures. */
  standing: inTeam("emails:read").query((call) =>
    joined(call, async (service) => {
      const [queue, failures] = await Promise.all([getQueue(service), listFailures(service, failuresShown)]);
      return { queue: withIsoTimes(queue), failures: failures.map(viewFailure) };
    }),
  ),
  /** The deliveries that are held after a restore; null if there are none. */
  held: inTeam("emails:read").query(async ({ ctx: { service } }) => {
    const found = await getHeldAfterRestore(service);
    return found && viewHeld(found.held, found.restore);
  }),
  /** Releases or cancels held deliveries of the team, one part of them; `next` starts the next part. */
  settleHeld: inTeam("team:write", SettleHeld).mutation(
    ({ ctx: { service }, input: { to, acceptedAfter, acceptedBefore, scheduledAfter, next } }) =>
      settleHeld(
        service,
        {
          to,
          acceptedAfter: timeOrNull(acceptedAfter),
          acceptedBefore: timeOrNull(acceptedBefore),
          scheduledAfter: timeOrNull(scheduledAfter),
        },
        next,
      ),
  ),
  /** The state of relays, webhooks and worker, and the remaining setup steps before the first real email. */
  parts: inTeam("usage:read").query(async (call) => {
    const [parts, setup] = await joined(call, (service) =>
      Promise.all([getParts(service), getSetup(service)]),
    );
    const { signedInAs, deps } = call.ctx;
    const own = { ownAddress: signedInAs.user.email, smtp: deps.submissionPort() };
    return { ...viewParts(parts), setup: { ...setup, ...own } };
  }),
});
