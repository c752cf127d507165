"use client";

import { useState } from "react";
import { SelectFilter } from "../_ui/list/filter-bar";
import { fieldStyle } from "../_ui/styles";
import { type EmailFilters, WITHIN } from "./filters";

const LABELS: Record<(typeof WITHIN)[number] | "span", string> = {
  "1h": "Last hour",
  "24h": "Last 24 hours",
  "7d": "Last 7 days",
  "30d": "Last 30 days",
  span: "Custom range",
};
const OPTIONS = [...WITHIN, "span" as const].map((value) => ({ value, label: LABELS[value] }));

type Props = { filters: EmailFilters; onChange: (change: Partial<EmailFilters>) => unknown };

/** Filters by the time an email was accepted: a range that ends now, or a custom range in the user's time zone. */
export function TimeFilter({ filters, onChange }: Props) {
  const { within, since, until } = filters;
  const [isOpen, setOpen] = useState(false);
  const isCustom = isOpen || since !== null || until !== null;
  return (
    <>
      <SelectFilter
        label="Time"
        value={isCustom ? "span" : within}
        options={OPTIONS}
        anyLabel="Any time"
        onChange={(chosen) => {
          setOpen(chosen === "span");
          onChange({ within: chosen === "span" ? null : chosen, since: null, until: null });
        }}
        className="md:grow lg:w-40 lg:grow-0"
      />
      {isCustom ? (
        <div className="col-span-2 flex w-full flex-wrap gap-2">
          <TimeField label="From" value={since} onChange={(at) => onChange({ since: at })} />
          <TimeField label="To" value={until} onChange={(at) => onChange({ until: at })} />
        </div>
      ) : null}
    </>
  );
}

type TimeFieldProps = { label: string; value: string | null; onChange: (at: string | null) => void };

function TimeField({ label, value, onChange }: TimeFieldProps) {
  return (
    <label className="flex min-w-0 grow items-center gap-2 md:grow-0">
      <span className="w-9 text-soft">{label}</span>
      <input
        type="datetime-local"
        value={value === null ? "" : toLocalInput(value)}
        onChange={({ target }) => {
          const at = target.value === "" ? null : new Date(target.value);
          if (at === null || !Number.isNaN(at.getTime())) onChange(at?.toISOString() ?? null);
        }}
        className={`${fieldStyle} min-w-0`}
      />
    </label>
  );
}

/** Converts a time to the format of `datetime-local`: the user's local time without a time zone. */
function toLocalInput(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return "";
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
