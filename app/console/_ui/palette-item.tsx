"use client";

import { Command } from "cmdk";
import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

export const groupStyle =
  "[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2.5 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-soft [&_[cmdk-group-heading]]:text-xs";

type Props = {
  /** Told apart by it; where `isFound` is not set, what is typed is looked for in it. */
  value: string;
  Icon: LucideIcon;
  onSelect: () => void;
  /** The server has found it already: it stands whatever is typed. */
  isFound?: boolean;
  /** What else people call it. */
  keywords?: string[];
  children: ReactNode;
  /** At the right: keys, a status. */
  aside?: ReactNode;
};

/** One line of the palette. */
export function PaletteItem({ value, Icon, onSelect, isFound, keywords, children, aside }: Props) {
  return (
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
}
