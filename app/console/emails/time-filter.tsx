"use client";

import { useState } from "react";
import { SelectFilter } from "../_ui/filter-bar";
import { fieldStyle } from "../_ui/styles";
import { type EmailFilters, WITHIN } from "./filters";

const LABELS: Record<(typeof WITHIN)[number] | "span", string> = {
  "1h": "Last hour",
  "24h": "Last 24 hours",
  "7d": "Last 7 days",
  "30d": "Last 30 days",
  span: "From … to …",
};
const OPTIONS = [...WITHIN, "span" as const].map((value) => ({ value, label: LABELS[value] }));

type Props = { filters: EmailFilters; onChange: (change: Partial<EmailFilters>) => unknown };

/** When a mail was accepted: some time up to now, or between two moments of the reader's own zone. */
export function TimeFilter({ filters, onChange }: Props) {
  const { within, since, until } = filters;
  const [isOpen, setOpen] = useState(false);
  const isSpan = isOpen || since !== null || until !== null;
  return (
    <>
      <SelectFilter
        label="Time"
        value={isSpan ? "span" : within}
        options={OPTIONS}
        anyLabel="Any time"
        onChange={(chosen) => {
          setOpen(chosen === "span");
          onChange({ within: chosen === "span" ? null : chosen, since: null, until: null });
        }}
        className="md:grow lg:w-40 lg:grow-0"
      />
      {isSpan ? (
        <div className="col-span-2 flex w-full flex-wrap gap-2">
          <Moment label="From" value={since} onChange={(at) => onChange({ since: at })} />
          <Moment label="To" value={until} onChange={(at) => onChange({ until: at })} />
        </div>
      ) : null}
    </>
  );
}

type MomentProps = { label: string; value: string | null; onChange: (at: string | null) => void };

function Moment({ label, value, onChange }: MomentProps) {
  return (
    <label className="flex min-w-0 grow items-center gap-2 md:grow-0">
      <span className="w-9 text-soft">{label}</span>
      <input
        type="datetime-local"
        value={value === null ? "" : inZone(value)}
        onChange={({ target }) => {
          const at = target.value === "" ? null : new Date(target.value);
          if (at === null || !Number.isNaN(at.getTime())) onChange(at?.toISOString() ?? null);
        }}
        className={`${fieldStyle} min-w-0`}
      />
    </label>
  );
}

/** As the field wants it: the reader's own time, without a zone. */
function inZone(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return "";
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
