"use client";

import { useQuery } from "@tanstack/react-query";
import type { GaugeView } from "#server/trpc/key-views";
import { Badge } from "../../_ui/badge";
import { faultOf } from "../../_ui/fault";
import { FormFault } from "../../_ui/form-fault";
import { Section } from "../../_ui/section";
import { Skeleton } from "../../_ui/skeleton";
import { useTRPC } from "../../_ui/trpc";
import { TIER_WORDS } from "../limits";

/** As quick as a person reads; a look costs the key nothing. */
const askAgainMs = 3_000;
/** From this share of the window on the bar changes its colour. */
const nearlyFull = 0.8;

/** The windows of a key as the limiter judges them at this moment. */
export function Gauges({ teamId, id }: { teamId: string; id: string }) {
  const trpc = useTRPC();
  const { data, error } = useQuery(
    trpc.keys.gauges.queryOptions({ team: teamId, id }, { refetchInterval: askAgainMs }),
  );
  return (
    <Section
      title="Limits"
      note="Calls of the last 60 seconds, as the limiter counts them now. A call that is refused is not counted."
    >
      <div className="grid gap-x-8 gap-y-5 px-5 pb-5 md:grid-cols-2">
        {data
          ? data.map((gauge) => <Gauge key={gauge.tier} gauge={gauge} />)
          : error
            ? null
            : Object.keys(TIER_WORDS).map((tier) => <Skeleton key={tier} className="h-13 w-full" />)}
        {error && !data ? <FormFault fault={faultOf(error)} /> : null}
      </div>
    </Section>
  );
}

function Gauge({ gauge: { tier, limit, isOwn, remaining } }: { gauge: GaugeView }) {
  const used = limit - remaining;
  const share = used / limit;
  const colour = remaining === 0 ? "bg-bad" : share >= nearlyFull ? "bg-warn" : "bg-accent";
  const name = TIER_WORDS[tier];
  return (
    <div className="min-w-0">
      <div className="mb-2 flex min-h-6 items-center gap-2">
        <span className="font-medium">{name}</span>
        {tier === "other" ? null : (
          <code className="truncate font-mono text-soft text-xs max-md:hidden">{tier}</code>
        )}
        {isOwn ? <Badge tone="info">Own limit</Badge> : null}
        <span className="ml-auto shrink-0 text-soft text-xs tabular-nums">
          {remaining} of {limit} left
        </span>
      </div>
      <meter className="sr-only" aria-label={`${name}: used of its limit`} min={0} max={limit} value={used}>
        {used} of {limit} used
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
