"use client";

import dynamic from "next/dynamic";
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { SpanView, TrafficView } from "#server/trpc/overview/traffic-view";
import { Skeleton } from "../../_ui/list/skeleton";
import { SideCard } from "../../_ui/page/card";
import { formatPercent, LIMITS, type LimitedRate } from "./rates";
import { formatSpan, STATUSES } from "./series";

const chartHeight = "h-[32rem] md:h-[36rem]";
// The chart library is as large as half the script of a page, so it loads separately.
const TrafficChart = dynamic(async () => (await import("./traffic-chart")).TrafficChart, {
  ssr: false,
  loading: () => <Skeleton className="size-full" />,
});

type Props = { traffic: TrafficView };

/** Recipients per hour or day by their current status, as a chart and as a table. */
export function Traffic({ traffic }: Props) {
  const { spans, unit, partialAt, isComplete } = traffic;
  const isEmpty = spans.every((span) => STATUSES.every(({ name }) => span[name] === 0));
  return (
    <SideCard
      title={
        <>
          Recipients by {unit} <span className="font-normal text-soft text-xs">UTC</span>
        </>
      }
      note={`By their current status, in the ${unit} in which the email was accepted.${partialAt === null ? "" : ` Partial ${unit}: ${formatSpan(partialAt, unit)}.`}`}
    >
      {isEmpty ? (
        <p className="text-soft">No email in this time range.</p>
      ) : (
        <WhenSeen>
          <TrafficChart spans={spans} unit={unit} partialAt={partialAt} />
        </WhenSeen>
      )}
      {isComplete ? null : (
        <p className="mt-3 text-soft text-xs" role="status">
          Older events are still being counted. The numbers will change.
        </p>
      )}
      <details className="group mt-3">
        <summary className="w-fit cursor-pointer rounded text-accent text-xs">
          <span className="group-open:hidden">Show as table</span>
          <span className="hidden group-open:inline">Hide table</span>
        </summary>
        <Figures spans={spans} unit={unit} partialAt={partialAt} />
      </details>
    </SideCard>
  );
}

/** Renders a placeholder of the same height until it is scrolled into view. */
function WhenSeen({ children }: { children: ReactNode }) {
  const container = useRef<HTMLDivElement>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (!container.current) return;
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      setSeen(true);
      observer.disconnect();
    });
    observer.observe(container.current);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={container} className={chartHeight}>
      {isSeen ? children : <Skeleton className="size-full" />}
    </div>
  );
}

const RATES = Object.keys(LIMITS) as LimitedRate[];

type FiguresProps = { spans: SpanView[]; unit: "hour" | "day"; partialAt: string | null };

/** Every column: its label, and its text for a time span. */
const COLUMNS = [
  ...STATUSES.map(({ name, label }) => ({
    label,
    format: (span: SpanView) => span[name].toLocaleString("en"),
  })),
  ...RATES.map((name) => ({
    label: LIMITS[name].label,
    format: (span: SpanView) => formatPercent(span[name]),
  })),
];

/**
 * Too many columns for the card, so the values of a time span wrap below its name, each with the label that
 * screen readers get from its column.
 */
const Figures = ({ spans, unit, partialAt }: FiguresProps) => (
  <table className="mt-3 block text-xs tabular-nums">
    <thead className="sr-only">
      <tr>
        <th scope="col">{unit === "hour" ? "Hour" : "Day"}</th>
        {COLUMNS.map(({ label }) => (
          <th key={label} scope="col">
            {label}
          </th>
        ))}
      </tr>
    </thead>
    <tbody className="block divide-y divide-line">
      {spans.map((span) => (
        <tr
          key={span.at}
          className="grid grid-cols-[repeat(auto-fill,minmax(7.5rem,1fr))] gap-x-4 gap-y-1 py-2"
        >
          <th scope="row" className="col-span-full text-left font-medium">
            {formatSpan(span.at, unit)}
            {span.at === partialAt ? <span className="font-normal text-soft"> (partial)</span> : null}
          </th>
          {COLUMNS.map(({ label, format }) => (
            <td key={label} className="flex justify-between gap-2">
              <span aria-hidden="true" className="text-soft">
                {label}
              </span>
              {format(span)}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
);
