"use client";

import { type KeyboardEvent, type ReactNode, useId, useState } from "react";
import { tabStripStyle, useTabStrip } from "./tab-strip";

export type Tab = { value: string; label: ReactNode; content: ReactNode };

type Props = {
  /** The accessible name of the tab list: "Message". */
  label: string;
  tabs: readonly Tab[];
  /**
   * The selected tab, if the parent controls it, for example by the URL. Otherwise the first tab is selected.
   */
  value?: string;
  onValueChange?: (value: string) => void;
  /** Class of the outer element, for example a card. */
  className?: string;
  /** Class of each panel, for example padding. */
  panelClassName?: string;
};

const tabStyle =
  "h-11 shrink-0 whitespace-nowrap border-transparent border-b-2 px-1 font-medium text-soft hover:text-ink focus-visible:-outline-offset-2 aria-selected:border-accent aria-selected:text-ink";

/**
 * The index of the tab that a key selects, as in the ARIA Authoring Practices Guide; null for any other key.
 */
function indexAfter(key: string, place: number, count: number): number | null {
  if (key === "ArrowRight") return (place + 1) % count;
  if (key === "ArrowLeft") return (place - 1 + count) % count;
  if (key === "Home") return 0;
  return key === "End" ? count - 1 : null;
}

/** Tabs, of which one is selected. The arrow keys select the next or previous one. */
export function Tabs({ label, tabs, value, onValueChange, className, panelClassName }: Props) {
  const id = useId();
  const [own, setOwn] = useState(tabs[0]?.value);
  const open = tabs.find((tab) => tab.value === (value ?? own)) ?? tabs[0];
  const strip = useTabStrip<HTMLDivElement>(open ? tabs.indexOf(open) : 0);
  const choose = (chosen: string) => {
    setOwn(chosen);
    onValueChange?.(chosen);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const next = indexAfter(event.key, open ? tabs.indexOf(open) : 0, tabs.length);
    const tab = next === null ? undefined : tabs[next];
    if (!tab) return;
    event.preventDefault();
    choose(tab.value);
    const button = event.currentTarget.children[next ?? 0];
    if (button instanceof HTMLElement) button.focus();
  };
  if (!open) return null;
  return (
    <div className={`min-w-0 ${className ?? ""}`}>
      <div
        ref={strip}
        role="tablist"
        tabIndex={-1}
        aria-label={label}
        onKeyDown={onKeyDown}
        className={`${tabStripStyle} ${className ? "px-4" : ""}`}
      >
        {tabs.map((tab) => (
          <button
            key={tab.value}
            type="button"
            role="tab"
            id={`${id}-${tab.value}-tab`}
            aria-selected={tab === open}
            aria-controls={tab === open ? `${id}-panel` : undefined}
            tabIndex={tab === open ? 0 : -1}
            onClick={() => choose(tab.value)}
            className={tabStyle}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div
        key={open.value}
        role="tabpanel"
        id={`${id}-panel`}
        aria-labelledby={`${id}-${open.value}-tab`}
        className={panelClassName}
      >
        {open.content}
      </div>
    </div>
  );
}
