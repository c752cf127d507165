"use client";

import { Search, X } from "lucide-react";
import { type ReactNode, useEffect, useId, useState } from "react";
import { Button } from "../form/button";
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

/** The URL parameter that a control of the bar shows and changes. */
type Parameter<Filters, Name extends keyof Filters> = {
  of: { filters: Filters; change: (part: Partial<Filters>) => void };
  name: Name;
};

const changeOf = <Filters, Name extends keyof Filters>(
  { of, name }: Parameter<Filters, Name>,
  value: string,
) => of.change({ [name]: value || null } as Partial<Filters>);

type SearchProps = {
  /** What the field searches: "Subject". */
  label: string;
  placeholder?: string;
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
export function SearchField<Name extends string, Filters extends Record<Name, string | null>>(
  props: SearchProps & Parameter<Filters, Name>,
) {
  const { label, placeholder = label, of, name, isReady = always, isMain = true } = props;
  const value = of.filters[name] ?? "";
  const [draft, setDraft] = useState<string | null>(null);
  const text = draft?.trim() ?? value;
  const settle = () => {
    setDraft(null);
    if (text !== value) changeOf(props, text);
  };
  useEffect(() => {
    if (draft === null || text === value || !isReady(text)) return;
    const timer = setTimeout(() => changeOf(props, text), settleMs);
    return () => clearTimeout(timer);
  });
  return (
    <label className={`relative col-span-2 min-w-0 ${props.className ?? "md:grow md:basis-48"}`}>
      <span className="sr-only">{label}</span>
      <Search className="pointer-events-none absolute top-1/2 left-3 size-4 -translate-y-1/2 text-soft" />
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

type SelectProps = {
  label: string;
  options: readonly { value: string; label: string }[];
  /** The option for no filter. */
  anyLabel?: string;
  className?: string;
};

/**
 * A filter by one of a few values. The value from the URL is among them even if the team has no such entry,
 * or the options are not loaded yet.
 */
export function SelectFilter<Name extends string, Filters extends Record<Name, string | null>>(
  props: SelectProps & Parameter<Filters, Name>,
) {
  const { label, options, anyLabel = `Any ${label.toLowerCase()}`, of, name, className = "" } = props;
  const id = useId();
  const value: string | null = of.filters[name];
  const isMissing = value !== null && options.every((option) => option.value !== value);
  return (
    <label htmlFor={id} className={`min-w-0 shrink-0 only:col-span-2 md:w-44 ${className}`}>
      <span className="sr-only">{label}</span>
      <Select
        id={id}
        value={value ?? ""}
        title={label}
        options={[{ value: "", label: anyLabel }, ...options, ...(isMissing ? [value] : [])]}
        onChange={({ target }) => changeOf(props, target.value)}
      />
    </label>
  );
}

/** A filter without a field of its own, from a link to this page. Its button removes it. */
export function RemovableFilter<Name extends string, Filters extends Record<Name, string | null>>(
  props: Parameter<Filters, Name> & { label: string },
) {
  const value = props.of.filters[props.name];
  return value ? (
    <Button isSmall onClick={() => changeOf(props, "")} className="max-w-full text-xs">
      <span className="truncate">
        {props.label}: {value}
      </span>
      <X className="size-3.5" />
      <span className="sr-only">Remove this filter</span>
    </Button>
  ) : null;
}
