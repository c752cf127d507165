"use client";

import type { ReactNode } from "react";
import {
  Bar,
  BarChart,
  CartesianGrid,
  Rectangle,
  type RectangleProps,
  ReferenceLine,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
  type YAxisProps,
} from "recharts";
import type { SpanView } from "#server/trpc/overview/traffic-view";
import { formatPercent, LIMITS, type LimitedRate } from "./rates";
import { formatSpan, PROBLEMS, type Series, STATUSES } from "./series";

type Props = { spans: SpanView[]; unit: "hour" | "day"; partialAt: string | null };
type Point = SpanView & { name: string; isPartial: boolean };

/** The bottom margin leaves room for the lowest axis label, which extends below its grid line. */
const margin = { top: 8, right: 8, bottom: 8, left: 0 };
const axis = { fontSize: 11, fill: "var(--soft)" };
const box = {
  background: "var(--page)",
  border: "1px solid var(--line)",
  borderRadius: 8,
  color: "var(--ink)",
  fontSize: 12,
};
const size = { width: 600, height: 160 };

/**
 * Recipients by status, the problems among them, and the rates that have limits. Hidden from screen readers
 * because the table below has the same data.
 */
export function TrafficChart({ spans, unit, partialAt }: Props) {
  const data = spans.map((span) => ({
    ...span,
    name: formatSpan(span.at, unit),
    isPartial: span.at === partialAt,
  }));
  return (
    <div aria-hidden="true" className="flex h-full flex-col gap-2">
      <Legend series={STATUSES} />
      <div className="min-h-0 flex-[3]">
        <StatusChart data={data} series={STATUSES} />
      </div>
      <p className="text-soft text-xs">Problems, on their own scale</p>
      <div className="min-h-0 flex-[2]">
        <StatusChart data={data} series={PROBLEMS} />
      </div>
      <div className="grid min-h-0 flex-[2] grid-cols-2 gap-3">
        <RateChart data={data} rate="bounce_rate" />
        <RateChart data={data} rate="complaint_rate" />
      </div>
    </div>
  );
}

const Legend = ({ series }: { series: readonly Series[] }) => (
  <ul className="flex flex-wrap gap-x-4 gap-y-1 text-soft text-xs">
    {series.map(({ name, label, color }) => (
      <li key={name} className="flex items-center gap-1.5">
        <span className="inline-block size-2.5 rounded-xs" style={{ background: color }} />
        {label}
      </li>
    ))}
  </ul>
);

/** A bar. That of a time span that has not ended is pale, with a dashed border. */
function SpanBar({ isPartial, ...bar }: RectangleProps & { isPartial?: boolean }) {
  return (
    <Rectangle
      {...bar}
      {...(isPartial ? { fillOpacity: 0.4, stroke: bar.fill, strokeDasharray: "3 2" } : {})}
    />
  );
}

type ChartProps = {
  data: Point[];
  series: readonly { dataKey: string; name: string; fill: string }[];
  /** Of the vertical axis. */
  scale: Pick<YAxisProps, "allowDecimals" | "domain" | "tickFormatter" | "tickCount">;
  formatValue?: (value: unknown) => string;
  children?: ReactNode;
};

/** Bars of stacked series, and what else is drawn on their scale. */
const Chart = ({ data, series, scale, formatValue, children }: ChartProps) => (
  <ResponsiveContainer width="100%" height="100%" initialDimension={size}>
    <BarChart data={data} margin={margin} accessibilityLayer={false} syncId="traffic">
      <XAxis dataKey="name" tick={axis} tickLine={false} axisLine={false} minTickGap={24} />
      <YAxis tick={axis} tickLine={false} axisLine={false} width={44} {...scale} />
      <Tooltip
        contentStyle={box}
        cursor={{ fill: "var(--mute-tint)", stroke: "var(--line)" }}
        isAnimationActive={false}
        {...(formatValue && { formatter: formatValue })}
      />
      {children}
      {series.map((bar) => (
        <Bar
          key={bar.name}
          {...bar}
          stackId="series"
          maxBarSize={28}
          shape={SpanBar}
          isAnimationActive={false}
        />
      ))}
    </BarChart>
  </ResponsiveContainer>
);

const StatusChart = ({ data, series }: { data: Point[]; series: readonly Series[] }) => (
  <Chart
    data={data}
    series={series.map(({ name, label, color }) => ({ dataKey: name, name: label, fill: color }))}
    scale={{ allowDecimals: false, tickFormatter: formatCount, tickCount: 4 }}
  >
    <CartesianGrid vertical={false} stroke="var(--line)" />
  </Chart>
);

/** A rate with the limits of mailbox providers as lines. */
function RateChart({ data, rate }: { data: Point[]; rate: LimitedRate }) {
  const { label, target, max } = LIMITS[rate];
  const highest = Math.max(max, ...data.map((point) => point[rate]));
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <p className="text-soft text-xs">
        {label}. Lines: target {target}%, limit {max}%
      </p>
      <div className="min-h-0 grow">
        <Chart
          data={data}
          series={[{ dataKey: rate, name: label, fill: "var(--soft)" }]}
          scale={{ domain: [0, highest * 1.1], tickFormatter: formatPercent, tickCount: 3 }}
          formatValue={(value) => formatPercent(Number(value))}
        >
          <ReferenceLine y={target} stroke="var(--warn)" strokeDasharray="5 4" />
          <ReferenceLine y={max} stroke="var(--bad)" />
        </Chart>
      </div>
    </div>
  );
}

const formatCount = (value: number): string =>
  value >= 1_000 ? `${(value / 1_000).toLocaleString("en", { maximumFractionDigits: 1 })}k` : String(value);
