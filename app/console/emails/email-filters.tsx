"use client";

import { ChevronDown } from "lucide-react";
import { useEffect, useState } from "react";
import { ENGAGEMENT_NAMES, EVENTS, STATUSES, WITHIN, type Within } from "#server/shared/email-words";
import { Menu } from "../_ui/dialog/menu";
import { Button } from "../_ui/form/button";
import { DAYS, type Day, dayOf, dayRange } from "../_ui/list/day-range";
import { RemovableFilter, SearchField, SelectFilter } from "../_ui/list/filter-bar";
import { useChoices } from "../_ui/list/use-choices";
import { fieldStyle } from "../_ui/styles";
import { toLocal } from "../_ui/text/local-time";
import { type EmailListState, STATUS_NAMES, statusesOf } from "./filters";

const STATUS_OPTIONS = STATUS_NAMES.map((value) => ({ value, label: STATUSES[value].label }));
const ENGAGEMENT_OPTIONS = ENGAGEMENT_NAMES.map((value) => ({
  value,
  label: EVENTS[`email.${value}`].label,
}));

/** The filters, stored in the URL. */
export function EmailFilterBar({ teamId, of }: { teamId: string; of: EmailListState }) {
  const { keys, domains } = useChoices(teamId);
  return (
    <div className="mb-4 flex flex-col gap-2">
      <search className="grid grid-cols-2 gap-2 md:flex md:flex-wrap md:items-center">
        <SearchField
          label="Search emails"
          placeholder="Address, subject, ID or tag"
          of={of}
          name="search"
          className="md:grow md:basis-full lg:basis-0"
        />
        <StatusFilter {...of} />
        <SelectFilter label="Key" of={of} name="key" options={keys} className="md:grow lg:w-36 lg:grow-0" />
        <SelectFilter label="Domain" of={of} name="domain" options={domains} className={wideStyle} />
        <SelectFilter
          label="Engagement"
          of={of}
          name="engagement"
          options={ENGAGEMENT_OPTIONS}
          className={wideStyle}
        />
        <TimeFilter {...of} />
      </search>
      {of.isFiltered ? (
        <div className="flex flex-wrap items-center gap-2">
          {/* From older URLs of this page, and links to the emails of one recipient or tag. */}
          <RemovableFilter label="To" of={of} name="recipient" />
          <RemovableFilter label="Tag" of={of} name="tag" />
          <RemovableFilter label="Subject" of={of} name="subject" />
          <Button tone="quiet" isSmall onClick={of.clear} className="ml-auto text-xs">
            Clear filters
          </Button>
        </div>
      ) : null}
    </div>
  );
}

const wideStyle = "md:grow lg:w-40 lg:grow-0";

/** One status or several, in a menu that stays open while they are chosen. */
function StatusFilter({ filters, change }: EmailListState) {
  const chosen = statusesOf(filters);
  const text = chosen.length === 0 ? "Any status" : chosen.map((name) => STATUSES[name].label).join(", ");
  return (
    <Menu
      label="Status"
      align="start"
      items={[]}
      marks={{
        options: STATUS_OPTIONS,
        values: chosen,
        onChange: (values) => {
          const status = STATUS_NAMES.filter((name) => values.includes(name));
          change({ status: status.join(",") || null });
        },
      }}
      className={`${fieldStyle} flex min-w-0 items-center justify-between gap-2 text-left md:w-44 md:grow lg:w-36 lg:grow-0`}
    >
      <span className="truncate">
        <span className="sr-only">Status: </span>
        {text}
      </span>
      <ChevronDown className="size-4 shrink-0 text-soft" />
    </Menu>
  );
}

type Time = Within | Day | "span";

const LABELS: Record<Time, string> = {
  today: "Today",
  yesterday: "Yesterday",
  "1h": "Last hour",
  "24h": "Last 24 hours",
  "7d": "Last 7 days",
  "30d": "Last 30 days",
  span: "Custom range",
};
const OPTIONS = [...DAYS, ...WITHIN, "span" as const].map((value) => ({
  value,
  label: LABELS[value],
}));

/**
 * Filters by the time an email was accepted: a day or a custom range in the user's time zone, or a range that
 * ends now.
 */
function TimeFilter({ filters, change: changeRange }: EmailListState) {
  const { within, since, until } = filters;
  const [isOpen, setOpen] = useState(false);
  // The server does not know the user's time zone, so the browser decides after the first rendering.
  const [isInBrowser, setInBrowser] = useState(false);
  useEffect(() => setInBrowser(true), []);
  const day = isInBrowser ? dayOf(filters) : undefined;
  const isCustom = isOpen || (isInBrowser && day === undefined && (since !== null || until !== null));
  const time: Time | null = isCustom ? "span" : (day ?? within);
  const change = ({ time: chosen = null }: { time?: Time | null }) => {
    setOpen(chosen === "span");
    if (chosen === "today" || chosen === "yesterday") changeRange({ within: null, ...dayRange(chosen) });
    else changeRange({ within: chosen === "span" ? null : chosen, since: null, until: null });
  };
  return (
    <>
      <SelectFilter
        label="Time"
        of={{ filters: { time }, change }}
        name="time"
        options={OPTIONS}
        className={wideStyle}
      />
      {isCustom ? (
        <div className="col-span-2 flex w-full flex-wrap gap-2">
          <TimeField label="From" value={since} onChange={(at) => changeRange({ since: at })} />
          <TimeField label="To" value={until} onChange={(at) => changeRange({ until: at })} />
        </div>
      ) : null}
    </>
  );
}

type TimeFieldProps = { label: string; value: string | null; onChange: (at: string | null) => void };

const TimeField = ({ label, value, onChange }: TimeFieldProps) => (
  <label className="flex min-w-0 grow items-center gap-2 md:grow-0">
    <span className="w-9 text-soft">{label}</span>
    <input
      type="datetime-local"
      value={value === null ? "" : toLocal(new Date(value))}
      onChange={({ target }) => {
        const at = target.value === "" ? null : new Date(target.value);
        if (at === null || !Number.isNaN(at.getTime())) onChange(at?.toISOString() ?? null);
      }}
      className={`${fieldStyle} min-w-0`}
    />
  </label>
);
