"use client";

import { useQuery } from "@tanstack/react-query";
import { SideCard } from "../../_ui/page/card";
import { Named } from "../../_ui/page/facts";
import { TextLink } from "../../_ui/page/page-link";
import { linkStyle } from "../../_ui/styles";
import { Badge } from "../../_ui/text/badge";
import { useTRPC } from "../../_ui/trpc";
import {
  formatPercent,
  LIMITS,
  type LimitedRate,
  rateOrNull,
  toneOfRate,
} from "../../overview/traffic/rates";

const staleMs = 60_000;
const RATES = Object.keys(LIMITS) as LimitedRate[];

/** The recipients and rates of the domain in the last 30 days. It has the same height while it loads. */
export function MetricsCard({ teamId, domain }: { teamId: string; domain: string }) {
  const trpc = useTRPC();
  const { data } = useQuery(
    trpc.overview.traffic.queryOptions({ team: teamId, range: "30d", domain }, { staleTime: staleMs }),
  );
  const total = data?.total;
  const count = (value: number | undefined) => value?.toLocaleString("en") ?? "–";
  const delivered = total ? rateOrNull(total, "delivery_rate") : null;
  return (
    <SideCard
      title="Last 30 days"
      actions={
        <TextLink to="/console" parameters={{ range: "30d", domain }} className={`${linkStyle} text-xs`}>
          Overview
        </TextLink>
      }
    >
      <dl className="grid grid-cols-2 gap-3 leading-6 tabular-nums">
        <Named name="Accepted">{count(total?.received)}</Named>
        <Named name="Delivered">
          {count(total?.metrics.delivered)}
          {delivered === null ? null : (
            <span className="text-soft text-xs"> {formatPercent(delivered)} of sent</span>
          )}
        </Named>
        {RATES.map((name) => {
          const rate = total ? rateOrNull(total, name) : null;
          return (
            <Named key={name} name={LIMITS[name].label}>
              {rate !== null ? (
                <Badge tone={toneOfRate(name, rate)} title={LIMITS[name].note}>
                  {formatPercent(rate)}
                </Badge>
              ) : total && total.rateOf[name] > 0 ? (
                "too few recipients"
              ) : (
                "–"
              )}
            </Named>
          );
        })}
      </dl>
    </SideCard>
  );
}
