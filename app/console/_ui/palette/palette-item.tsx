"use client";

import { Command } from "cmdk";
import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

/** One line of the palette: a command, or something that the search found. */
export type PaletteItem = {
  /** Unique in the palette. */
  value: string;
  Icon: LucideIcon;
  onSelect: () => void;
  content: ReactNode;
  /** Shown at the right: keys or a status. */
  aside?: ReactNode;
};

export type PaletteGroup = { heading: string; items: readonly PaletteItem[] };

/** Opens a console page of the team. */
export type Go = (path: string, parameters?: Record<string, string>) => void;

/** A group of lines under its heading; nothing if it has none. */
export function PaletteLines({ heading, items }: PaletteGroup) {
  if (items.length === 0) return null;
  return (
    <Command.Group
      heading={heading}
      className="[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2.5 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-soft [&_[cmdk-group-heading]]:text-xs"
    >
      {items.map(({ value, Icon, onSelect, content, aside }) => (
        <Command.Item
          key={value}
          value={value}
          onSelect={onSelect}
          className="flex min-h-10 cursor-pointer select-none items-center gap-3 rounded-lg px-2.5 py-1.5 data-[selected=true]:bg-mute-tint max-md:min-h-11"
        >
          <Icon className="size-4 shrink-0 text-soft" />
          <span className="flex min-w-0 grow items-baseline gap-2">{content}</span>
          {aside}
        </Command.Item>
      ))}
    </Command.Group>
  );
}
