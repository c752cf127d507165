"use client";

import { type RefObject, useEffect } from "react";

const TYPES_IN = "input, textarea, select, [contenteditable], [role=menu]";

/**
 * `/` goes to the search field, `j` and `k` move through the list's links; Enter then opens one as it does any link.
 * Where somebody types, or a menu is open, letters are letters.
 */
export function useListKeys(
  list: RefObject<HTMLElement | null>,
  search: RefObject<HTMLInputElement | null>,
): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target instanceof Element && event.target.closest(TYPES_IN)) return;
      if (event.key === "/") {
        event.preventDefault();
        search.current?.focus();
        search.current?.select();
      }
      if (event.key === "j") move(list.current, 1);
      if (event.key === "k") move(list.current, -1);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [list, search]);
}

function move(list: HTMLElement | null, step: 1 | -1): void {
  const links: Element[] = [...(list?.querySelectorAll("a") ?? [])];
  const here = document.activeElement ? links.indexOf(document.activeElement) : -1;
  const next = here === -1 ? (step === 1 ? 0 : links.length - 1) : here + step;
  const link = links[Math.max(0, Math.min(links.length - 1, next))];
  if (link instanceof HTMLElement) link.focus();
}
