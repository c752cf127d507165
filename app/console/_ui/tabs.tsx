"use client";

import { type KeyboardEvent, type ReactNode, useId, useState } from "react";

export type Tab = { value: string; label: ReactNode; content: ReactNode };

type Props = {
  /** What the tabs are of: "Message". */
  label: string;
  tabs: readonly Tab[];
  /** Chosen from outside, by the page's address for example; else the first is open at the start. */
  value?: string;
  onValueChange?: (value: string) => void;
  /** Of the whole: a card, for example. */
  className?: string;
  /** Of each panel: padding, for example. */
  panelClassName?: string;
};

const tabStyle =
  "-mb-px h-11 shrink-0 whitespace-nowrap border-transparent border-b-2 px-1 font-medium text-soft hover:text-ink focus-visible:-outline-offset-2 aria-selected:border-accent aria-selected:text-ink";

/** Where a key leads from a tab, as the ARIA authoring practices have it; null for any other key. */
function placeAfter(key: string, place: number, count: number): number | null {
  if (key === "ArrowRight") return (place + 1) % count;
  if (key === "ArrowLeft") return (place - 1 + count) % count;
  if (key === "Home") return 0;
  return key === "End" ? count - 1 : null;
}

/** Several views of one thing, of which one is open. Arrow keys go from tab to tab and open it. */
export function Tabs({ label, tabs, value, onValueChange, className, panelClassName }: Props) {
  const id = useId();
  const [own, setOwn] = useState(tabs[0]?.value);
  const open = tabs.find((tab) => tab.value === (value ?? own)) ?? tabs[0];
  const choose = (chosen: string) => {
    setOwn(chosen);
    onValueChange?.(chosen);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const next = placeAfter(event.key, open ? tabs.indexOf(open) : 0, tabs.length);
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
        role="tablist"
        tabIndex={-1}
        aria-label={label}
        onKeyDown={onKeyDown}
        className={`flex gap-5 overflow-x-auto border-line border-b ${className ? "px-4" : ""}`}
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
