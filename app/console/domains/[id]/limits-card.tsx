"use client";

import { useState } from "react";
import type { DomainView } from "#server/trpc/domains/views";
import { Button } from "../../_ui/form/button";
import { SideCard } from "../../_ui/page/card";
import { lazyDialog } from "../../_ui/page/lazy-part";
import type { CardProps } from "./cards";

const LimitsForm = lazyDialog(async () => (await import("./limits-form")).LimitsForm);

const count = (n: number) => n.toLocaleString("en");

/** The daily recipient limit of the domain, and its warm-up plan. */
export function LimitsCard(props: CardProps) {
  const { domain, disabledReason } = props;
  const [isChanging, setChanging] = useState(false);
  const { today, daily_cap: dailyCap, warm_up: warmUp, warmUpPlan } = domain;
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
      <dl className="mt-3 flex flex-col gap-1 leading-6">
        {dailyCap === null ? null : (
          <div className="flex justify-between gap-3">
            <dt className="text-soft">Daily cap</dt>
            <dd className="tabular-nums">{count(dailyCap)}</dd>
          </div>
        )}
        {warmUp ? (
          <div className="flex justify-between gap-3">
            <dt className="text-soft">Warm-up</dt>
            <dd className="text-right tabular-nums">
              {count(warmUp.first_day)}, then +{warmUp.growth_percent}% per day
            </dd>
          </div>
        ) : null}
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

function Gauge({ used, allowed }: { used: number; allowed: number }) {
  const share = allowed === 0 ? 1 : Math.min(1, used / allowed);
  return (
    <div>
      <p className="mb-2 leading-6">
        <span className="font-medium tabular-nums">{count(used)}</span>{" "}
        <span className="text-soft">of {count(allowed)} recipients today (UTC)</span>
      </p>
      <meter aria-label="Recipients used today" value={used} max={Math.max(allowed, 1)} className="sr-only">
        {count(used)}
      </meter>
      <div aria-hidden="true" className="h-1.5 overflow-hidden rounded-full bg-mute-tint">
        <div
          className={`h-full rounded-full ${share >= 1 ? "bg-bad" : share > 0.8 ? "bg-warn" : "bg-accent"}`}
          style={{ width: `${share * 100}%` }}
        />
      </div>
      {share >= 1 ? (
        <p className="mt-2 text-soft text-xs">Email accepted now is queued until tomorrow.</p>
      ) : null}
    </div>
  );
}

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
            title={`${day}: ${count(allowed)}`}
            className="min-w-px flex-1 rounded-t-sm bg-accent/70"
            style={{ height: `${Math.max(4, (allowed / highest) * 100)}%` }}
          />
        ))}
      </div>
      <figcaption className="mt-2 text-soft text-xs leading-5">
        {plan.length} {plan.length === 1 ? "day" : "days"} from {plan[0]?.day}
        {last ? `. The last day, ${last.day}, allows ${count(last.allowed)}` : ""}
        {end === null
          ? ""
          : `. After that, ${dailyCap === null ? "no cap applies" : `the cap of ${count(dailyCap)} applies`}`}
        .
      </figcaption>
    </figure>
  );
}
