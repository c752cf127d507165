"use client";

import { Command } from "cmdk";
import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

export const groupStyle =
  "[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2.5 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-soft [&_[cmdk-group-heading]]:text-xs";

export type PaletteItemProps = {
  /** Unique key of the item. Unless `isFound` is set, the typed text is matched against it. */
  value: string;
  Icon: LucideIcon;
  onSelect: () => void;
  /** A search result of the server: always shown, without local matching. */
  isFound?: boolean;
  /** Alternative search terms. */
  keywords?: string[];
  children: ReactNode;
  /** Shown at the right: keys or a status. */
  aside?: ReactNode;
};

/** One line of the palette. */
export const PaletteItem = ({
  value,
  Icon,
  onSelect,
  isFound,
  keywords,
  children,
  aside,
}: PaletteItemProps) => (
  <Command.Item
    value={value}
    onSelect={onSelect}
    {...(isFound ? { forceMount: true } : {})}
    {...(keywords ? { keywords } : {})}
    className="flex min-h-10 cursor-pointer select-none items-center gap-3 rounded-lg px-2.5 py-1.5 data-[selected=true]:bg-mute-tint max-md:min-h-11"
  >
    <Icon className="size-4 shrink-0 text-soft" aria-hidden="true" />
    <span className="flex min-w-0 grow items-baseline gap-2">{children}</span>
    {aside}
  </Command.Item>
);
