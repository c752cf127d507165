"use client";

import { Tabs as Radix } from "radix-ui";
import type { ReactNode } from "react";

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
  "-mb-px h-11 shrink-0 whitespace-nowrap border-transparent border-b-2 px-1 font-medium text-soft hover:text-ink focus-visible:-outline-offset-2 data-[state=active]:border-accent data-[state=active]:text-ink";

/** Several views of one thing, of which one is open. Arrow keys go from tab to tab. */
export function Tabs({ label, tabs, value, onValueChange, className, panelClassName }: Props) {
  const chosen = value === undefined ? { defaultValue: tabs[0]?.value ?? "" } : { value };
  return (
    <Radix.Root
      {...chosen}
      {...(onValueChange ? { onValueChange } : {})}
      className={`min-w-0 ${className ?? ""}`}
    >
      <Radix.List
        aria-label={label}
        className={`flex gap-5 overflow-x-auto border-line border-b ${className ? "px-4" : ""}`}
      >
        {tabs.map((tab) => (
          <Radix.Trigger key={tab.value} value={tab.value} className={tabStyle}>
            {tab.label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map((tab) => (
        <Radix.Content key={tab.value} value={tab.value} className={panelClassName}>
          {tab.content}
        </Radix.Content>
      ))}
    </Radix.Root>
  );
}
