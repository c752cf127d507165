"use client";

import { useState } from "react";
import type { TrafficView } from "#server/trpc/overview/traffic-view";
import { Toggle } from "../../_ui/form/toggle";
import { cardStyle } from "../../_ui/styles";
import { formatPercent, LIMITS } from "./rates";

const DIMENSIONS = [
  { value: "byProvider", label: "Provider" },
  { value: "byDomain", label: "Domain" },
  { value: "byTag", label: "Tag" },
] as const;
type Dimension = (typeof DIMENSIONS)[number]["value"];

const PROVIDERS: Record<string, string> = {
  gmail: "Gmail",
  microsoft: "Microsoft",
  yahoo: "Yahoo",
  apple: "Apple",
};

const nameOf = (dimension: Dimension, name: string): string =>
  dimension === "byProvider"
    ? (PROVIDERS[name] ?? "Other")
    : dimension === "byTag" && name === "other"
      ? "Other tags"
      : name;

/** The recipients and rates of the range by mailbox provider, sender domain or tag. */
export function Breakdown({ traffic }: { traffic: TrafficView }) {
  const [dimension, setDimension] = useState<Dimension>("byProvider");
  const { rows, hidden } = traffic[dimension];
  const shown = rows.filter(({ received }) => received > 0);
  const label = DIMENSIONS.find(({ value }) => value === dimension)?.label ?? "";
  return (
    <section aria-labelledby="breakdown" className={`${cardStyle} min-w-0 p-5`}>
      <div className="mb-3 flex flex-wrap items-center justify-between gap-3">
        <h2 id="breakdown" className="font-semibold">
          Recipients by {label.toLowerCase()}
        </h2>
        <Toggle
          label="Group by"
          value={dimension}
          options={DIMENSIONS}
          onChange={setDimension}
          className="rounded-lg border border-line bg-sunk p-0.5"
          itemClassName="h-7 rounded-md px-2.5 text-xs text-soft hover:text-ink aria-pressed:bg-page aria-pressed:text-ink aria-pressed:shadow-sm max-md:h-10"
        />
      </div>
      {shown.length === 0 ? (
        <p className="text-soft">No recipients in this time range.</p>
      ) : (
        <table className="w-full text-right text-xs tabular-nums">
          <thead>
            <tr className="text-soft">
              <th scope="col" className="py-1.5 pr-3 text-left font-normal">
                {label}
              </th>
              <th scope="col" className="py-1.5 pl-3 font-normal">
                Accepted
              </th>
              <th scope="col" title="of sent" className="py-1.5 pl-3 font-normal">
                Delivered
              </th>
              <th scope="col" title={`of ${LIMITS.bounce_rate.of}`} className="py-1.5 pl-3 font-normal">
                Bounced
              </th>
              <th
                scope="col"
                title={`of ${LIMITS.complaint_rate.of}`}
                className="py-1.5 pl-3 font-normal max-md:hidden"
              >
                Complained
              </th>
              <th scope="col" className="py-1.5 pl-3 font-normal max-md:hidden">
                Opened
              </th>
            </tr>
          </thead>
          <tbody className="divide-y divide-line">
            {shown.map(({ name, received, opensTracked, metrics }) => (
              <tr key={name}>
                <th scope="row" className="break-all py-1.5 pr-3 text-left font-normal">
                  {nameOf(dimension, name)}
                </th>
                <td className="py-1.5 pl-3">{received.toLocaleString("en")}</td>
                <td className="py-1.5 pl-3">{formatPercent(metrics.delivery_rate)}</td>
                <td className="py-1.5 pl-3">{formatPercent(metrics.bounce_rate)}</td>
                <td className="py-1.5 pl-3 max-md:hidden">{formatPercent(metrics.complaint_rate)}</td>
                <td className="py-1.5 pl-3 max-md:hidden">
                  {opensTracked > 0 ? formatPercent(metrics.open_rate) : "–"}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {hidden > 0 ? (
        <p className="mt-3 text-soft text-xs">
          {hidden.toLocaleString("en")} more with fewer recipients. GET /api/emails/metrics returns all of
          them.
        </p>
      ) : null}
    </section>
  );
}
