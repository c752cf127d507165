"use client";

import { useQuery } from "@tanstack/react-query";
import type { Gauge as Limit } from "#server/services/keys/use";
import { TIERS } from "#server/shared/rate-limits";
import { Skeleton } from "../../_ui/list/skeleton";
import { Section } from "../../_ui/page/card";
import { Fetched } from "../../_ui/page/fetched";
import { UsageBar } from "../../_ui/page/usage-bar";
import { Badge } from "../../_ui/text/badge";
import { useTRPC } from "../../_ui/trpc";
import { TIER_LABELS } from "../labels";

/** Reading the gauges does not count against the limits. */
const refetchMs = 3_000;
/** The current usage of each rate limit of a key. */
export function Gauges({ teamId, id }: { teamId: string; id: string }) {
  const trpc = useTRPC();
  const gauges = useQuery(
    trpc.keys.gauges.queryOptions({ team: teamId, id }, { refetchInterval: refetchMs }),
  );
  return (
    <Section
      title="Rate limits"
      note="API requests in the last 60 seconds. Rejected requests are not counted."
    >
      <div className="grid gap-x-8 gap-y-5 px-5 pb-5 md:grid-cols-2">
        <Fetched
          by={gauges}
          isBare
          loading={TIERS.map((tier) => <Skeleton key={tier} className="h-13 w-full" />)}
        >
          {(data) => data.map((gauge) => <Gauge key={gauge.tier} gauge={gauge} />)}
        </Fetched>
      </div>
    </Section>
  );
}

function Gauge({ gauge: { tier, limit, isOwn, remaining } }: { gauge: Limit }) {
  const used = limit - remaining;
  const text = `${used} of ${limit} requests`;
  const name = TIER_LABELS[tier];
  return (
    <div className="min-w-0">
      <div className="mb-2 flex min-h-6 flex-wrap items-center gap-x-2 gap-y-1">
        <span className="font-medium">{name}</span>
        {tier === "other" ? null : <code className="font-mono text-soft text-xs max-lg:hidden">{tier}</code>}
        {isOwn ? <Badge tone="info">Custom limit</Badge> : null}
        <span className="ml-auto text-soft text-xs tabular-nums">{text}</span>
      </div>
      <UsageBar label={`${name}: requests used`} used={used} max={limit} text={text} />
    </div>
  );
}
