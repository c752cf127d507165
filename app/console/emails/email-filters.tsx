"use client";

import { useQuery } from "@tanstack/react-query";
import { ChevronDown, X } from "lucide-react";
import { useEffect, useState } from "react";
import {
  ENGAGEMENT_NAMES,
  EVENTS,
  STATUSES,
  type Status,
  WITHIN,
  type Within,
} from "#server/shared/email-words";
import { Menu } from "../_ui/dialog/menu";
import { Button } from "../_ui/form/button";
import { DAYS, dayOf, dayRange } from "../_ui/list/day-range";
import { SearchField, SelectFilter, withChosen } from "../_ui/list/filter-bar";
import { fieldStyle } from "../_ui/styles";
import { toLocal } from "../_ui/text/local-time";
import { useTRPC } from "../_ui/trpc";
import { type EmailFilters, isFiltered, STATUS_NAMES, statusesOf } from "./filters";

const STATUS_OPTIONS = STATUS_NAMES.map((value) => ({ value, label: STATUSES[value].label }));
const ENGAGEMENT_OPTIONS = ENGAGEMENT_NAMES.map((value) => ({
  value,
  label: EVENTS[`email.${value}`].label,
}));
const choicesStaleMs = 60_000;

type Props = {
  teamId: string;
  filters: EmailFilters;
  /** Sets some of them, and returns to the first page. */
  change: (part: Partial<EmailFilters>) => void;
  clear: () => void;
};

/** The filters, stored in the URL. */
export function EmailFilterBar({ teamId, filters, change, clear }: Props) {
  const trpc = useTRPC();
  const { data } = useQuery(
    trpc.emails.choices.queryOptions({ team: teamId }, { staleTime: choicesStaleMs }),
  );
  const keys = (data?.keys ?? []).map(({ id, name }) => ({ value: id, label: name }));
  const domains = (data?.domains ?? []).map((name) => ({ value: name, label: name }));
  // Filters without a field of their own: from older URLs of this page, and links to the emails of one
  // recipient or tag.
  const hiddenFilters = [
    ["recipient", "To"],
    ["tag", "Tag"],
    ["subject", "Subject"],
  ] as const;
  return (
    <div className="mb-4 flex flex-col gap-2">
      <search className="grid grid-cols-2 gap-2 md:flex md:flex-wrap md:items-center">
        <SearchField
          label="Search emails"
          placeholder="Address, subject, ID or tag"
          value={filters.search ?? ""}
          onSettle={(search) => change({ search: search || null })}
          className="md:grow md:basis-full lg:basis-0"
        />
        <StatusFilter chosen={statusesOf(filters)} change={change} />
        <SelectFilter
          label="Key"
          value={filters.key}
          options={withChosen(keys, filters.key)}
          anyLabel="Any key"
          onChange={(key) => change({ key })}
          className="md:grow lg:w-36 lg:grow-0"
        />
        <SelectFilter
          label="Domain"
          value={filters.domain}
          options={withChosen(domains, filters.domain)}
          anyLabel="Any domain"
          onChange={(domain) => change({ domain })}
          className="md:grow lg:w-40 lg:grow-0"
        />
        <SelectFilter
          label="Engagement"
          value={filters.engagement}
          options={ENGAGEMENT_OPTIONS}
          anyLabel="Any engagement"
          onChange={(engagement) => change({ engagement })}
          className="md:grow lg:w-40 lg:grow-0"
        />
        <TimeFilter filters={filters} change={change} />
      </search>
      {isFiltered(filters) ? (
        <div className="flex flex-wrap items-center gap-2">
          {hiddenFilters.map(([name, label]) =>
            filters[name] ? (
              <Button
                key={name}
                isSmall
                onClick={() => change({ [name]: null })}
                className="max-w-full text-xs"
              >
                <span className="truncate">
                  {label}: {filters[name]}
                </span>
                <X className="size-3.5" aria-hidden="true" />
                <span className="sr-only">Remove this filter</span>
              </Button>
            ) : null,
          )}
          <Button tone="quiet" isSmall onClick={clear} className="ml-auto text-xs">
            Clear filters
          </Button>
        </div>
      ) : null}
    </div>
  );
}

/** One status or several, in a menu that stays open while they are chosen. */
function StatusFilter({ chosen, change }: { chosen: readonly Status[]; change: Props["change"] }) {
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
      <ChevronDown className="size-4 shrink-0 text-soft" aria-hidden="true" />
    </Menu>
  );
}

const LABELS: Record<Within | "today" | "yesterday" | "span", string> = {
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
function TimeFilter({ filters, change }: Pick<Props, "filters" | "change">) {
  const { within, since, until } = filters;
  const [isOpen, setOpen] = useState(false);
  // The server does not know the user's time zone, so the browser decides after the first rendering.
  const [isInBrowser, setInBrowser] = useState(false);
  useEffect(() => setInBrowser(true), []);
  const day = isInBrowser ? dayOf(filters) : undefined;
  const isCustom = isOpen || (isInBrowser && day === undefined && (since !== null || until !== null));
  return (
    <>
      <SelectFilter
        label="Time"
        value={isCustom ? "span" : (day ?? within)}
        options={OPTIONS}
        anyLabel="Any time"
        onChange={(chosen) => {
          setOpen(chosen === "span");
          if (chosen === "today" || chosen === "yesterday") change({ within: null, ...dayRange(chosen) });
          else change({ within: chosen === "span" ? null : chosen, since: null, until: null });
        }}
        className="md:grow lg:w-40 lg:grow-0"
      />
      {isCustom ? (
        <div className="col-span-2 flex w-full flex-wrap gap-2">
          <TimeField label="From" value={since} onChange={(at) => change({ since: at })} />
          <TimeField label="To" value={until} onChange={(at) => change({ until: at })} />
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
