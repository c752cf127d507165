"use client";

import dynamic from "next/dynamic";
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { SpanView } from "#server/trpc/overview/overview";
import { Skeleton } from "../_ui/list/skeleton";
import { cardStyle } from "../_ui/styles";
import { formatSpan, PROBLEMS, type Series, TRAFFIC } from "./series";

const chartHeight = "h-[23rem]";
// The chart library is as large as half the script of a page, so it loads separately.
const TrafficChart = dynamic(async () => (await import("./traffic-chart")).TrafficChart, {
  ssr: false,
  loading: () => <Skeleton className="size-full" />,
});

type Props = {
  traffic: { spans: SpanView[]; unit: "hour" | "day"; isComplete: boolean; isWhole: boolean };
};

/** Results per hour or day, as a chart and as a table. */
export function Traffic({ traffic }: Props) {
  const { spans, unit, isComplete, isWhole } = traffic;
  return (
    <section aria-labelledby="traffic" className={`${cardStyle} min-w-0 p-5`}>
      <h2 id="traffic" className="mb-3 font-semibold">
        Recipients by {unit} <span className="font-normal text-soft text-xs">UTC</span>
      </h2>
      <WhenSeen>
        <TrafficChart spans={spans} unit={unit} />
      </WhenSeen>
      {isComplete && isWhole ? null : (
        <p className="mt-3 text-soft text-xs" role="status">
          {isComplete
            ? "There is too much data to chart every hour of today. The first hours are omitted."
            : "Older events are still being counted. The numbers will increase."}
        </p>
      )}
      <details className="mt-3">
        <summary className="w-fit cursor-pointer rounded text-accent text-xs">Show as table</summary>
        <Figures spans={spans} unit={unit} />
      </details>
    </section>
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

const ALL: readonly Series[] = [...TRAFFIC, ...PROBLEMS];

/** A phone shows only the four main series. */
const MAIN = new Set(["accepted", "delivered", "bounced", "complained"]);
const onWide = (name: string): string => (MAIN.has(name) ? "" : "max-md:hidden");

const Figures = ({ spans, unit }: { spans: SpanView[]; unit: "hour" | "day" }) => (
  <table className="mt-3 w-full text-right text-xs tabular-nums">
    <thead>
      <tr className="text-soft">
        <th scope="col" className="py-1.5 pr-3 text-left font-normal">
          {unit === "hour" ? "Hour" : "Day"}
        </th>
        {ALL.map(({ name, label }) => (
          <th key={name} scope="col" className={`py-1.5 pl-3 font-normal ${onWide(name)}`}>
            {label}
          </th>
        ))}
      </tr>
    </thead>
    <tbody className="divide-y divide-line">
      {spans.map((span) => (
        <tr key={span.at}>
          <th scope="row" className="py-1.5 pr-3 text-left font-normal">
            {formatSpan(span.at, unit)}
          </th>
          {ALL.map(({ name }) => (
            <td key={name} className={`py-1.5 pl-3 ${onWide(name)}`}>
              {span[name].toLocaleString("en")}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
);
