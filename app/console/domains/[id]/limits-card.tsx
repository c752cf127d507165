"use client";

import { Suspense, useState } from "react";
import type { DomainView } from "#server/trpc/domain-views";
import { ActButton } from "../../_ui/act-button";
import { lazyPart } from "../../_ui/lazy-part";
import { buttonStyle, cardStyle } from "../../_ui/styles";
import type { CardProps } from "./card";

const LimitsForm = lazyPart(async () => (await import("./limits-form")).LimitsForm);

const count = (n: number) => n.toLocaleString("en");

/** How many recipients a day the domain may write to, and how that grows. */
export function LimitsCard(props: CardProps) {
  const { domain, whyNot } = props;
  const [isChanging, setChanging] = useState(false);
  const { allowedToday, handedOverToday, dailyCap, warmUp } = domain;
  return (
    <section aria-labelledby="limits" className={`${cardStyle} p-5`}>
      <h2 id="limits" className="mb-3 font-semibold">
        Daily limit
      </h2>
      {allowedToday === null ? (
        <p className="text-soft leading-6">
          {warmUp
            ? "The warm-up does not hold today: any number of recipients."
            : "None: any number of recipients a day. A new domain builds its name better by a warm-up."}
        </p>
      ) : (
        <Gauge used={handedOverToday} allowed={allowedToday} />
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
              {count(warmUp.firstDay)}, then +{warmUp.growthPercent} % a day
            </dd>
          </div>
        ) : null}
      </dl>
      {warmUp && warmUp.plan.length > 0 ? <Plan warmUp={warmUp} dailyCap={dailyCap} /> : null}
      <ActButton
        whyNot={whyNot}
        onClick={() => setChanging(true)}
        className={`${buttonStyle.plain} mt-4 h-9`}
      >
        Change…
      </ActButton>
      {isChanging ? (
        <Suspense>
          <LimitsForm {...props} onClose={() => setChanging(false)} />
        </Suspense>
      ) : null}
    </section>
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
        <p className="mt-2 text-soft text-xs">What is accepted now waits until tomorrow.</p>
      ) : null}
    </div>
  );
}

type PlanProps = { warmUp: NonNullable<DomainView["warmUp"]>; dailyCap: number | null };

/** The days of the warm-up, each as high as what it allows. */
function Plan({ warmUp: { plan, target }, dailyCap }: PlanProps) {
  const most = Math.max(...plan.map(({ allowed }) => allowed));
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
            style={{ height: `${Math.max(4, (allowed / most) * 100)}%` }}
          />
        ))}
      </div>
      <figcaption className="mt-2 text-soft text-xs leading-5">
        {plan.length} {plan.length === 1 ? "day" : "days"} from {plan[0]?.day}
        {last ? `; the last, ${last.day}, allows ${count(last.allowed)}` : ""}
        {end === null ? "" : `, then ${dailyCap === null ? "any number" : `the cap of ${count(dailyCap)}`}`}.
      </figcaption>
    </figure>
  );
}
