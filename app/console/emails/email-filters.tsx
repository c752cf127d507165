"use client";

import { ChevronDown } from "lucide-react";
import { type RefObject, useEffect, useState } from "react";
import { EMAIL_STATUS_NAMES, STATUSES } from "../_ui/statuses";
import { fieldStyle } from "../_ui/styles";
import type { EmailFilters } from "./filters";

/** After the last key press; a search for half a word helps nobody. */
const settleMs = 350;
const WHOLE_ADDRESS = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

type Props = {
  filters: EmailFilters;
  onChange: (change: Partial<EmailFilters>) => unknown;
  searchRef: RefObject<HTMLInputElement | null>;
};

/** The filters, which live in the page's address. Another filter starts again at the newest mail. */
export function EmailFilterBar({ filters, onChange, searchRef }: Props) {
  const change = (part: Partial<EmailFilters>) => onChange({ ...part, after: null, before: null });
  return (
    <search className="mb-4 grid grid-cols-2 gap-2 md:grid-cols-[minmax(0,1.4fr)_minmax(0,1fr)_10rem]">
      <TextFilter
        label="Subject"
        placeholder="Search subjects"
        value={filters.subject ?? ""}
        inputRef={searchRef}
        isReady={() => true}
        onSettle={(subject) => change({ subject: subject || null })}
        className="col-span-2 md:col-span-1"
      />
      <TextFilter
        label="Recipient, the whole address"
        placeholder="Recipient address"
        value={filters.recipient ?? ""}
        isReady={(text) => text === "" || WHOLE_ADDRESS.test(text)}
        onSettle={(recipient) => change({ recipient: recipient || null })}
      />
      <label className="relative">
        <span className="sr-only">Status</span>
        <select
          value={filters.status ?? ""}
          onChange={({ target }) =>
            change({ status: EMAIL_STATUS_NAMES.find((name) => name === target.value) ?? null })
          }
          className={`${fieldStyle} appearance-none pr-9`}
        >
          <option value="">Any status</option>
          {EMAIL_STATUS_NAMES.map((name) => (
            <option key={name} value={name}>
              {STATUSES[name].label}
            </option>
          ))}
        </select>
        <ChevronDown
          className="pointer-events-none absolute top-3 right-3 size-4 text-soft"
          aria-hidden="true"
        />
      </label>
    </search>
  );
}

type TextFilterProps = {
  label: string;
  placeholder: string;
  value: string;
  /** Whether what stands there can be searched for without pressing Enter. */
  isReady: (text: string) => boolean;
  onSettle: (text: string) => void;
  inputRef?: RefObject<HTMLInputElement | null>;
  className?: string;
};

/** A field that acts when its reader stops typing, or at once on Enter. */
function TextFilter({ label, placeholder, value, isReady, onSettle, inputRef, className }: TextFilterProps) {
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
    <label className={className}>
      <span className="sr-only">{label}</span>
      <input
        ref={inputRef}
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
          if (event.key === "Escape") event.currentTarget.blur();
        }}
        className={fieldStyle}
      />
    </label>
  );
}
