"use client";

import { Fragment, useState } from "react";
import type { DomainView } from "#server/trpc/domains/views";
import { Button } from "../../_ui/form/button";
import { formatCount, formatNumber } from "../../_ui/format-number";
import { SideCard } from "../../_ui/page/card";
import { lazyDialog } from "../../_ui/page/lazy-part";
import { UsageBar } from "../../_ui/page/usage-bar";
import type { CardProps } from "./cards";

const LimitsForm = lazyDialog(async () => (await import("./limits-form")).LimitsForm);

/** The daily recipient limit of the domain, and its warm-up plan. */
export function LimitsCard(props: CardProps) {
  const { domain, disabledReason } = props;
  const [isChanging, setChanging] = useState(false);
  const { today, daily_cap: dailyCap, warm_up: warmUp, warmUpPlan } = domain;
  const limits = [
    ...(dailyCap === null ? [] : [["Daily cap", formatNumber(dailyCap)]]),
    ...(warmUp
      ? [["Warm-up", `${formatNumber(warmUp.first_day)}, then +${warmUp.growth_percent}% per day`]]
      : []),
  ];
  return (
    <SideCard title="Daily cap">
      {today.allowed === null ? (
        <p className="text-soft leading-6">
          {warmUp
            ? "No cap today: the warm-up is not in effect."
            : "No daily cap. For a new domain, a warm-up raises the cap day by day, which builds its reputation."}
        </p>
      ) : (
        <Gauge used={today.handed_over} allowed={today.allowed} />
      )}
      <dl className="mt-3 grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1 leading-6">
        {limits.map(([name, text]) => (
          <Fragment key={name}>
            <dt className="text-soft">{name}</dt>
            <dd className="text-right tabular-nums">{text}</dd>
          </Fragment>
        ))}
      </dl>
      {warmUp && warmUpPlan.length > 0 ? (
        <Plan plan={warmUpPlan} target={warmUp.target} dailyCap={dailyCap} />
      ) : null}
      <Button isSmall disabledReason={disabledReason} onClick={() => setChanging(true)} className="mt-4">
        Change…
      </Button>
      {isChanging ? <LimitsForm {...props} onClose={() => setChanging(false)} /> : null}
    </SideCard>
  );
}

const Gauge = ({ used, allowed }: { used: number; allowed: number }) => (
  <div>
    <p className="mb-2 leading-6">
      <span className="font-medium tabular-nums">{formatNumber(used)}</span>{" "}
      <span className="text-soft">of {formatNumber(allowed)} recipients today (UTC)</span>
    </p>
    <UsageBar label="Recipients used today" used={used} max={allowed} text={formatNumber(used)} />
    {used >= allowed ? (
      <p className="mt-2 text-soft text-xs">Email accepted now is queued until tomorrow.</p>
    ) : null}
  </div>
);

type PlanProps = { plan: DomainView["warmUpPlan"]; target: number | null; dailyCap: number | null };

/** A bar chart of the daily caps of the warm-up. */
function Plan({ plan, target, dailyCap }: PlanProps) {
  const highest = Math.max(...plan.map(({ allowed }) => allowed));
  const last = plan.at(-1);
  const end = target ?? dailyCap;
  return (
    <figure className="mt-4">
      <div aria-hidden="true" className="flex h-16 items-end gap-px">
        {plan.map(({ day, allowed }) => (
          <div
            key={day}
            title={`${day}: ${formatNumber(allowed)}`}
            className="min-w-px flex-1 rounded-t-sm bg-accent/70"
            style={{ height: `${Math.max(4, (allowed / highest) * 100)}%` }}
          />
        ))}
      </div>
      <figcaption className="mt-2 text-soft text-xs leading-5">
        {formatCount(plan.length, "day")} from {plan[0]?.day}
        {last ? `. The last day, ${last.day}, allows ${formatNumber(last.allowed)}` : ""}
        {end === null
          ? ""
          : `. After that, ${dailyCap === null ? "no cap applies" : `the cap of ${formatNumber(dailyCap)} applies`}`}
        .
      </figcaption>
    </figure>
  );
}
