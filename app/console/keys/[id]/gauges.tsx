"use client";

import { useQuery } from "@tanstack/react-query";
import type { Gauge as Limit } from "#server/services/keys/use";
import { TIERS } from "#server/shared/rate-limits";
import { faultOf } from "../../_ui/fault";
import { FormFault } from "../../_ui/form/form-fault";
import { Skeleton } from "../../_ui/list/skeleton";
import { Section } from "../../_ui/page/card";
import { Badge } from "../../_ui/text/badge";
import { useTRPC } from "../../_ui/trpc";
import { TIER_LABELS } from "../labels";

/** Reading the gauges does not count against the limits. */
const refetchMs = 3_000;
/** The share of a limit from which its bar shows a warning. */
const warnShare = 0.8;

/** The current usage of each rate limit of a key. */
export function Gauges({ teamId, id }: { teamId: string; id: string }) {
  const trpc = useTRPC();
  const { data, error } = useQuery(
    trpc.keys.gauges.queryOptions({ team: teamId, id }, { refetchInterval: refetchMs }),
  );
  return (
    <Section
      title="Rate limits"
      note="API requests in the last 60 seconds. Rejected requests are not counted."
    >
      <div className="grid gap-x-8 gap-y-5 px-5 pb-5 md:grid-cols-2">
        {data
          ? data.map((gauge) => <Gauge key={gauge.tier} gauge={gauge} />)
          : error
            ? null
            : TIERS.map((tier) => <Skeleton key={tier} className="h-13 w-full" />)}
        {error && !data ? <FormFault fault={faultOf(error)} /> : null}
      </div>
    </Section>
  );
}

function Gauge({ gauge: { tier, limit, isOwn, remaining } }: { gauge: Limit }) {
  const used = limit - remaining;
  const share = used / limit;
  const colour = remaining === 0 ? "bg-bad" : share >= warnShare ? "bg-warn" : "bg-accent";
  const name = TIER_LABELS[tier];
  return (
    <div className="min-w-0">
      <div className="mb-2 flex min-h-6 flex-wrap items-center gap-x-2 gap-y-1">
        <span className="font-medium">{name}</span>
        {tier === "other" ? null : <code className="font-mono text-soft text-xs max-lg:hidden">{tier}</code>}
        {isOwn ? <Badge tone="info">Custom limit</Badge> : null}
        <span className="ml-auto text-soft text-xs tabular-nums">
          {used} of {limit} requests
        </span>
      </div>
      <meter className="sr-only" aria-label={`${name}: requests used`} min={0} max={limit} value={used}>
        {used} of {limit} requests
      </meter>
      <div aria-hidden="true" className="h-2 overflow-hidden rounded-full bg-mute-tint">
        <div
          className={`h-full rounded-full motion-safe:transition-[width] ${colour}`}
          style={{ width: `${Math.min(100, share * 100)}%` }}
        />
      </div>
    </div>
  );
}
