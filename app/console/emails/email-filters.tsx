"use client";

import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { STATUSES } from "#server/shared/email-words";
import { SearchField, SelectFilter, withChosen } from "../_ui/list/filter-bar";
import { buttonStyle } from "../_ui/styles";
import { useTRPC } from "../_ui/trpc";
import { type EmailFilters, isFiltered, NO_FILTERS, STATUS_NAMES } from "./filters";
import { TimeFilter } from "./time-filter";

const STATUS_OPTIONS = STATUS_NAMES.map((value) => ({ value, label: STATUSES[value].label }));
const choicesStaleMs = 60_000;

type Props = {
  teamId: string;
  filters: EmailFilters;
  onChange: (change: Partial<EmailFilters>) => unknown;
};

/** The filters, stored in the URL. Changing one returns to the first page. */
export function EmailFilterBar({ teamId, filters, onChange }: Props) {
  const trpc = useTRPC();
  const { data } = useQuery(
    trpc.emails.choices.queryOptions({ team: teamId }, { staleTime: choicesStaleMs }),
  );
  const change = (part: Partial<EmailFilters>) => onChange({ ...part, after: null, before: null });
  const keys = (data?.keys ?? []).map(({ id, name }) => ({ value: id, label: name }));
  const domains = (data?.domains ?? []).map((name) => ({ value: name, label: name }));
  // Filters without a field of their own: from older URLs of this page and links to the emails of one recipient.
  const hiddenFilters = [
    ["recipient", "To"],
    ["subject", "Subject"],
  ] as const;
  return (
    <div className="mb-4 flex flex-col gap-2">
      <search className="grid grid-cols-2 gap-2 md:flex md:flex-wrap md:items-center">
        <SearchField
          label="Search emails"
          placeholder="Address, subject, id, tag:name=value"
          value={filters.q ?? ""}
          onSettle={(q) => change({ q: q || null })}
          className="col-span-2 md:basis-full lg:basis-0"
        />
        <SelectFilter
          label="Status"
          value={filters.status}
          options={STATUS_OPTIONS}
          anyLabel="Any status"
          onChange={(status) => change({ status })}
          className="md:grow lg:w-36 lg:grow-0"
        />
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
        <TimeFilter filters={filters} onChange={change} />
      </search>
      {isFiltered(filters) ? (
        <div className="flex flex-wrap items-center gap-2">
          {hiddenFilters.map(([name, label]) =>
            filters[name] ? (
              <button
                key={name}
                type="button"
                onClick={() => change({ [name]: null })}
                className={`${buttonStyle.plain} h-8 max-w-full text-xs`}
              >
                <span className="truncate">
                  {label}: {filters[name]}
                </span>
                <X className="size-3.5" aria-hidden="true" />
                <span className="sr-only">Remove this filter</span>
              </button>
            ) : null,
          )}
          <button
            type="button"
            onClick={() => onChange(NO_FILTERS)}
            className={`${buttonStyle.quiet} ml-auto h-8 text-xs`}
          >
            Clear all filters
          </button>
        </div>
      ) : null}
    </div>
  );
}
