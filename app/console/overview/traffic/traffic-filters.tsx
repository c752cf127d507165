"use client";

import { useId } from "react";
import { SearchField, SelectFilter } from "../../_ui/list/filter-bar";
import { useChoices } from "../../_ui/list/use-choices";
import { fieldStyle } from "../../_ui/styles";
import type { OverviewSearch } from "../ranges";

type Props = {
  teamId: string;
  search: OverviewSearch;
  /** The tags of the range with the most recipients: none until `onTags` was called. */
  tags: readonly string[];
  onTags: () => void;
  change: (part: Partial<OverviewSearch>) => void;
};

/**
 * The filters of the traffic by domain, key and tag, and the days of a custom range; their values are in the
 * URL.
 */
export function TrafficFilters({ teamId, search, tags, onTags, change }: Props) {
  const { domains, keys } = useChoices(teamId);
  const { range, since, until } = search;
  const of = { filters: search, change };
  const tagListId = useId();
  return (
    <search className="mb-6 grid grid-cols-2 gap-2 md:flex md:flex-wrap md:items-center">
      {range === "days" ? (
        <>
          <Day
            label="First day"
            value={since}
            max={until}
            onChange={(day) => change({ since: day, until })}
          />
          <Day label="Last day" value={until} min={since} onChange={(day) => change({ since, until: day })} />
        </>
      ) : null}
      <SelectFilter label="Domain" of={of} name="domain" options={domains} />
      <SelectFilter label="Key" of={of} name="key" options={keys} />
      <SearchField
        label="Tag"
        placeholder="Tag, name:value"
        of={of}
        name="tag"
        list={tagListId}
        isReady={isTag}
        isMain={false}
        className="md:w-56"
        onFocus={onTags}
      />
      <datalist id={tagListId}>
        {tags.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </search>
  );
}

/** True for a complete tag, and for none. */
const isTag = (text: string): boolean => text === "" || /^[^:]+:[^:]+$/.test(text);

type DayProps = {
  label: string;
  value: string | null;
  min?: string | null;
  max?: string | null;
  onChange: (day: string | null) => void;
};

const Day = ({ label, value, min, max, onChange }: DayProps) => (
  <label className="min-w-0 md:w-40">
    <span className="sr-only">{label}</span>
    <input
      type="date"
      title={label}
      value={value ?? ""}
      min={min ?? undefined}
      max={max ?? undefined}
      onChange={({ target }) => onChange(target.value || null)}
      className={fieldStyle}
    />
  </label>
);
