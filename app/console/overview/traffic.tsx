"use client";

import dynamic from "next/dynamic";
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { SpanView } from "#server/trpc/overview-views";
import { Skeleton } from "../_ui/skeleton";
import { cardStyle } from "../_ui/styles";
import { nameSpan, type Series, TRAFFIC, TROUBLE } from "./series";

const drawn = "h-[23rem]";
// The library that draws weighs as much as half a page's script, and nothing waits for it.
const TrafficChart = dynamic(async () => (await import("./traffic-chart")).TrafficChart, {
  ssr: false,
  loading: () => <Skeleton className="size-full" />,
});

type Props = {
  traffic: { spans: SpanView[]; unit: "hour" | "day"; isComplete: boolean; isWhole: boolean };
};

/** What became of mail, by hour or day: drawn, and as a table. */
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
            ? "There is too much mail today to draw every hour; the first ones are left out."
            : "Older events are still being counted in; the figures grow for a while."}
        </p>
      )}
      <details className="mt-3">
        <summary className="w-fit cursor-pointer rounded text-accent text-xs">As a table</summary>
        <Figures spans={spans} unit={unit} />
      </details>
    </section>
  );
}

/** Stands empty, as tall as it will be, until somebody comes near it. */
function WhenSeen({ children }: { children: ReactNode }) {
  const place = useRef<HTMLDivElement>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (!place.current) return;
    const watch = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      setSeen(true);
      watch.disconnect();
    });
    watch.observe(place.current);
    return () => watch.disconnect();
  }, []);
  return (
    <div ref={place} className={drawn}>
      {isSeen ? children : <Skeleton className="size-full" />}
    </div>
  );
}

const ALL: readonly Series[] = [...TRAFFIC, ...TROUBLE];

/** A phone has room for the four that matter most. */
const MAIN = new Set(["accepted", "delivered", "bounced", "complained"]);
const onWide = (name: string): string => (MAIN.has(name) ? "" : "max-md:hidden");

function Figures({ spans, unit }: { spans: SpanView[]; unit: "hour" | "day" }) {
  return (
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
              {nameSpan(span.at, unit)}
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
}
