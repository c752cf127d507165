"use client";

import type { UseQueryResult } from "@tanstack/react-query";
import { useState } from "react";
import type { RowsView, TrafficView } from "#server/trpc/overview/traffic-view";
import { Toggle } from "../../_ui/form/toggle";
import { Loading, Skeleton } from "../../_ui/list/skeleton";
import { SideCard } from "../../_ui/page/card";
import { Fetched } from "../../_ui/page/fetched";
import { TextLink } from "../../_ui/page/page-link";
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

type Row = RowsView["rows"][number];
type Column = { header: string /** What a rate is a part of. */; of?: string; format: (row: Row) => string };

/** A rate of no recipients is not 0%. */
const formatRate = ({ metrics, rateOf }: Row, name: keyof Row["rateOf"]): string =>
  rateOf[name] === 0 ? "–" : formatPercent(metrics[name]);

const COLUMNS: readonly Column[] = [
  { header: "Accepted", format: ({ received }) => received.toLocaleString("en") },
  {
    header: "Delivered",
    of: "of sent",
    format: (row) => formatRate(row, "delivery_rate"),
  },
  {
    header: "Bounced",
    of: `of ${LIMITS.bounce_rate.of}`,
    format: (row) => formatRate(row, "bounce_rate"),
  },
  {
    header: "Complained",
    of: `of ${LIMITS.complaint_rate.of}`,
    format: (row) => formatRate(row, "complaint_rate"),
  },
  {
    header: "Opened",
    format: ({ opensTracked, metrics }) => (opensTracked > 0 ? formatPercent(metrics.open_rate) : "–"),
  },
];

/** On a phone the name is above the values, which need the whole width. */
const rowStyle = "max-md:col-span-full max-md:grid max-md:grid-cols-subgrid max-md:py-1.5";
const nameStyle = "pr-3 text-left md:py-1.5 max-md:col-span-full";
const valueStyle = "py-1.5 pl-3 max-md:p-0";

type Props = {
  traffic: TrafficView;
  /** Read after `onTags` was called. */
  tags: Pick<UseQueryResult<RowsView, unknown>, "data" | "error" | "refetch" | "isPlaceholderData">;
  onTags: () => void;
};

/** The recipients and rates of the range by mailbox provider, sender domain or tag. */
export function Breakdown({ traffic, tags, onTags }: Props) {
  const [dimension, setDimension] = useState<Dimension>("byProvider");
  const label = DIMENSIONS.find(({ value }) => value === dimension)?.label ?? "";
  const select = (selected: Dimension) => {
    if (selected === "byTag") onTags();
    setDimension(selected);
  };
  return (
    <SideCard
      title={`Recipients by ${label.toLowerCase()}`}
      actions={
        <Toggle
          label="Group by"
          value={dimension}
          options={DIMENSIONS}
          onChange={select}
          className="rounded-lg border border-line bg-sunk p-0.5"
          itemClassName="h-7 rounded-md px-2.5 text-xs text-soft hover:text-ink aria-pressed:bg-raised aria-pressed:text-ink aria-pressed:shadow-sm max-md:h-10"
        />
      }
    >
      {dimension === "byTag" ? (
        <Fetched by={tags} isBare loading={<RowsLoading />}>
          {(data) => (
            <div className={tags.isPlaceholderData ? "opacity-60" : ""}>
              <Rows dimension={dimension} label={label} {...data} />
            </div>
          )}
        </Fetched>
      ) : (
        <Rows dimension={dimension} label={label} {...traffic[dimension]} />
      )}
    </SideCard>
  );
}

/** As tall as the rows of all providers, so that the selection of tags makes the card no shorter. */
const RowsLoading = () => (
  <Loading>
    <Skeleton className="h-44 max-md:h-60" />
  </Loading>
);

function Rows({ dimension, label, rows, hidden }: RowsView & { dimension: Dimension; label: string }) {
  const shown = rows.filter(({ received }) => received > 0);
  if (shown.length === 0) return <p className="text-soft">No recipients in this time range.</p>;
  return (
    <>
      <table className="w-full gap-x-1.5 text-right text-xs tabular-nums max-md:grid max-md:grid-cols-[repeat(5,auto)] max-[22.5rem]:grid-cols-[repeat(3,auto)]">
        <thead className="max-md:contents">
          <tr className={`text-soft ${rowStyle}`}>
            <th scope="col" className={`font-normal ${nameStyle} max-md:sr-only`}>
              {label}
            </th>
            {COLUMNS.map(({ header, of }) => (
              <th key={header} scope="col" title={of} className={`font-normal ${valueStyle}`}>
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line max-md:contents">
          {shown.map((row) => (
            <tr key={row.name} className={rowStyle}>
              <th scope="row" className={`break-all font-normal ${nameStyle}`}>
                {dimension === "byTag" && row.name.includes(":") ? (
                  <TextLink to="/console/emails" parameters={{ tag: row.name }} title="Emails with this tag">
                    {row.name}
                  </TextLink>
                ) : (
                  nameOf(dimension, row.name)
                )}
              </th>
              {COLUMNS.map(({ header, format }) => (
                <td key={header} className={valueStyle}>
                  {format(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {hidden > 0 ? (
        <p className="mt-3 text-soft text-xs">
          {hidden.toLocaleString("en")} more with fewer recipients.{" "}
          <code className="font-mono">GET /api/emails/metrics</code> returns all of them.
        </p>
      ) : null}
    </>
  );
}
