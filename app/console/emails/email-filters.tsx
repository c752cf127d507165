"use client";

import { FilterBar, SearchField, SelectFilter } from "../_ui/filter-bar";
import { EMAIL_STATUS_NAMES, STATUSES } from "../_ui/statuses";
import type { EmailFilters } from "./filters";

const WHOLE_ADDRESS = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

const STATUS_OPTIONS = EMAIL_STATUS_NAMES.map((value) => ({ value, label: STATUSES[value].label }));

type Props = {
  filters: EmailFilters;
  onChange: (change: Partial<EmailFilters>) => unknown;
};

/** The filters, which live in the page's address. Another filter starts again at the newest mail. */
export function EmailFilterBar({ filters, onChange }: Props) {
  const change = (part: Partial<EmailFilters>) => onChange({ ...part, after: null, before: null });
  return (
    <FilterBar>
      <SearchField
        label="Subject"
        placeholder="Search subjects"
        value={filters.subject ?? ""}
        onSettle={(subject) => change({ subject: subject || null })}
      />
      <SearchField
        label="Recipient, the whole address"
        placeholder="Recipient address"
        value={filters.recipient ?? ""}
        isMain={false}
        isReady={(text) => text === "" || WHOLE_ADDRESS.test(text)}
        onSettle={(recipient) => change({ recipient: recipient || null })}
      />
      <SelectFilter
        label="Status"
        value={filters.status}
        options={STATUS_OPTIONS}
        anyLabel="Any status"
        onChange={(status) => change({ status })}
      />
    </FilterBar>
  );
}
