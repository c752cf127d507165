"use client";

import { parseAsBoolean, useQueryState } from "nuqs";

const isOpen = parseAsBoolean.withDefault(false);

/** Whether a page's form for a new thing is open. It stands in the address, so that the palette and other pages can lead to it. */
export function useNew(): [boolean, (open: boolean) => void] {
  const [open, setOpen] = useQueryState("new", isOpen);
  return [open, (wanted) => void setOpen(wanted || null)];
}
