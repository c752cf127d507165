"use client";

import { Search } from "lucide-react";
import { type ReactNode, useEffect, useId, useState } from "react";
import { Select } from "./select";
import { fieldStyle } from "./styles";

/** After the last key press; a search for half a word helps nobody. */
const settleMs = 350;

/** A list's filters in one line, which live in the page's address. On a phone two of them share a line, below the search. */
export function FilterBar({ children }: { children: ReactNode }) {
  return <search className="mb-4 grid grid-cols-2 gap-2 md:flex md:items-center">{children}</search>;
}

type SearchProps = {
  /** What it searches: "Subject". */
  label: string;
  placeholder?: string;
  value: string;
  onSettle: (text: string) => void;
  /** Whether what stands there can be searched for without pressing Enter. */
  isReady?: (text: string) => boolean;
  /** The page's first field, to which `/` leads. */
  isMain?: boolean;
  className?: string;
};

/** A field that acts when its reader stops typing, or at once on Enter; Escape leaves it. */
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
    <label className={`relative col-span-2 min-w-0 md:grow ${props.className ?? ""}`}>
      <span className="sr-only">{label}</span>
      <Search
        className="pointer-events-none absolute top-1/2 left-3 size-4 -translate-y-1/2 text-soft"
        aria-hidden="true"
      />
      <input
        {...(isMain ? { "data-search": "" } : {})}
        type="search"
        value={draft ?? value}
        placeholder={placeholder}
        title={label}
        maxLength={320}
        spellCheck={false}
        onChange={({ target }) => setDraft(target.value)}
        onBlur={settle}
        onKeyDown={(event) => {
          if (event.key === "Enter") settle();
          if (event.key !== "Escape") return;
          // A browser would empty the field, and with it the list.
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
  /** What stands for no filter: "Any status". */
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
        onChange={({ target }) =>
          onChange(options.find((option) => option.value === target.value)?.value ?? null)
        }
      >
        <option value="">{anyLabel}</option>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </Select>
    </label>
  );
}

/** What the address asks for stands in the field also where the team has no such thing, or it is not known yet. */
export function withChosen(options: { value: string; label: string }[], chosen: string | null) {
  if (chosen === null || options.some(({ value }) => value === chosen)) return options;
  return [...options, { value: chosen, label: chosen }];
}
