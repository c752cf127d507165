"use client";

import { Search } from "lucide-react";
import { Key } from "../list/pager";
import { useCommands } from "./keyboard";

/** Opens the palette. It looks like a search field; on a phone it is an icon. */
export function SearchButton() {
  const { open, preload } = useCommands();
  return (
    <button
      type="button"
      aria-haspopup="dialog"
      onClick={() => open("palette")}
      onPointerEnter={preload}
      onFocus={preload}
      className="flex h-11 w-11 items-center justify-center gap-2.5 rounded-lg text-soft hover:text-ink md:h-9 md:w-full md:justify-start md:border md:border-line md:bg-page md:px-2.5"
    >
      <Search className="size-4.5 md:size-4" />
      <span className="max-md:sr-only">Search…</span>
      <span className="ml-auto max-md:hidden" aria-hidden="true">
        <Key>Ctrl K</Key>
      </span>
    </button>
  );
}
