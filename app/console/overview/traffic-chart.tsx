"use client";

import {
  Bar,
  CartesianGrid,
  ComposedChart,
  Line,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from "recharts";
import type { SpanView } from "#server/trpc/overview/overview";
import { formatSpan, PROBLEMS, type Series, TRAFFIC } from "./series";

type Props = { spans: SpanView[]; unit: "hour" | "day" };

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

/** The chart. It is hidden from screen readers because the table below it has the same data. */
export function TrafficChart({ spans, unit }: Props) {
  const data = spans.map((span) => ({ ...span, name: formatSpan(span.at, unit) }));
  return (
    <div aria-hidden="true" className="flex h-full flex-col gap-2">
      <Legend series={TRAFFIC} />
      <div className="min-h-0 flex-[3]">
        <Chart data={data} series={TRAFFIC} isBars={false} />
      </div>
      <Legend series={PROBLEMS} />
      <div className="min-h-0 flex-[2]">
        <Chart data={data} series={PROBLEMS} isBars />
      </div>
    </div>
  );
}

const Legend = ({ series }: { series: readonly Series[] }) => (
  <ul className="flex flex-wrap gap-x-4 gap-y-1 text-soft text-xs">
    {series.map(({ name, label, color, dash }) => (
      <li key={name} className="flex items-center gap-1.5">
        <span
          className="inline-block w-3.5 border-t-3"
          style={{ borderColor: color, borderTopStyle: dash ? "dashed" : "solid" }}
        />
        {label}
      </li>
    ))}
  </ul>
);

type ChartProps = { data: (SpanView & { name: string })[]; series: readonly Series[]; isBars: boolean };

const Chart = ({ data, series, isBars }: ChartProps) => (
  <ResponsiveContainer width="100%" height="100%" initialDimension={{ width: 600, height: 160 }}>
    <ComposedChart
      data={data}
      margin={isBars ? { ...margin, bottom: 0 } : margin}
      accessibilityLayer={false}
      syncId="traffic"
    >
      <CartesianGrid vertical={false} stroke="var(--line)" />
      {/* A band scale for the line chart too, so the lines are aligned with the bars below. */}
      <XAxis
        dataKey="name"
        scale="band"
        tick={axis}
        tickLine={false}
        axisLine={false}
        minTickGap={24}
        hide={!isBars}
      />
      <YAxis
        tick={axis}
        tickLine={false}
        axisLine={false}
        width={44}
        allowDecimals={false}
        tickFormatter={formatCount}
        tickCount={isBars ? 3 : 4}
      />
      <Tooltip
        contentStyle={box}
        cursor={{ fill: "var(--mute-tint)", stroke: "var(--line)" }}
        isAnimationActive={false}
      />
      {series.map(({ name, label, color, dash }) =>
        isBars ? (
          <Bar
            key={name}
            dataKey={name}
            name={label}
            stackId="problems"
            fill={color}
            maxBarSize={28}
            isAnimationActive={false}
          />
        ) : (
          <Line
            key={name}
            dataKey={name}
            name={label}
            stroke={color}
            strokeWidth={2}
            {...(dash ? { strokeDasharray: dash } : {})}
            dot={data.length < 3 ? { r: 3 } : false}
            type="monotone"
            isAnimationActive={false}
          />
        ),
      )}
    </ComposedChart>
  </ResponsiveContainer>
);

const formatCount = (value: number): string =>
  value >= 1_000 ? `${(value / 1_000).toLocaleString("en", { maximumFractionDigits: 1 })}k` : String(value);
