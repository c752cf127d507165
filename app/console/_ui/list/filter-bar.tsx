"use client";

import { Search } from "lucide-react";
import { type ReactNode, useEffect, useId, useState } from "react";
import { Select } from "../form/select";
import { fieldStyle } from "../styles";

/** Delay after the last key press. It avoids a search for each incomplete word. */
const settleMs = 350;

/**
 * The filters of a list in one line; their values are in the URL. On a phone two share a line below the
 * search.
 */
export function FilterBar({ children }: { children: ReactNode }) {
  return (
    <search className="mb-4 grid grid-cols-2 gap-2 md:flex md:flex-wrap md:items-center">{children}</search>
  );
}

type SearchProps = {
  /** What the field searches: "Subject". */
  label: string;
  placeholder?: string;
  value: string;
  onSettle: (text: string) => void;
  /** Whether the text is complete enough to search without Enter. */
  isReady?: (text: string) => boolean;
  /** The main search field of the page, which the `/` key focuses. */
  isMain?: boolean;
  /** The id of a `datalist` with suggestions. Any other value can be entered, too. */
  list?: string;
  onFocus?: () => void;
  className?: string;
};

/**
 * A search field that searches when the user stops typing, or immediately on Enter. Escape leaves the field.
 */
export function SearchField(props: SearchProps) {
  const { label, placeholder = label, value, onSettle, isReady = always, isMain = true } = props;
  const [draft, setDraft] = useState<string | null>(null);
  const text = draft?.trim() ?? value;
  const settle = () => {
    setDraft(null);
    if (text !== value) onSettle(text);
  };
  useEffect(() => {
    if (draft === null || text === value || !isReady(text)) return;
    const timer = setTimeout(() => onSettle(text), settleMs);
    return () => clearTimeout(timer);
  });
  return (
    <label className={`relative col-span-2 min-w-0 ${props.className ?? "md:grow md:basis-48"}`}>
      <span className="sr-only">{label}</span>
      <Search
        className="pointer-events-none absolute top-1/2 left-3 size-4 -translate-y-1/2 text-soft"
        aria-hidden="true"
      />
      <input
        {...(isMain ? { "data-search": "" } : {})}
        type="search"
        list={props.list}
        value={draft ?? value}
        placeholder={placeholder}
        title={label}
        maxLength={320}
        spellCheck={false}
        onFocus={props.onFocus}
        onChange={({ target }) => setDraft(target.value)}
        onBlur={settle}
        onKeyDown={(event) => {
          if (event.key === "Enter") settle();
          if (event.key !== "Escape") return;
          // By default the browser clears the field, which would also clear the filter.
          event.preventDefault();
          event.currentTarget.blur();
        }}
        className={`${fieldStyle} pl-9`}
      />
    </label>
  );
}

const always = () => true;

type SelectProps<Value extends string> = {
  label: string;
  value: Value | null;
  options: readonly { value: Value; label: string }[];
  /** The option for no filter: "Any status". */
  anyLabel: string;
  onChange: (value: Value | null) => void;
  className?: string;
};

/** A filter by one of a few values. */
export function SelectFilter<Value extends string>(props: SelectProps<Value>) {
  const { label, value, options, anyLabel, onChange } = props;
  const id = useId();
  return (
    <label htmlFor={id} className={`min-w-0 shrink-0 only:col-span-2 md:w-44 ${props.className ?? ""}`}>
      <span className="sr-only">{label}</span>
      <Select
        id={id}
        value={value ?? ""}
        title={label}
        options={[{ value: "", label: anyLabel }, ...options]}
        onChange={({ target }) =>
          onChange(options.find((option) => option.value === target.value)?.value ?? null)
        }
      />
    </label>
  );
}

/**
 * Adds the value from the URL to the options if the team has no such entry or the options are not loaded yet.
 */
export function withChosen(options: { value: string; label: string }[], chosen: string | null) {
  if (chosen === null || options.some(({ value }) => value === chosen)) return options;
  return [...options, { value: chosen, label: chosen }];
}
