"use client";

import { useEffect, useRef } from "react";

/** Ctrl+S (on a Mac ⌘S) saves, wherever the cursor is; the browser's own dialog for it stays away. */
export function useSaveKey(save: () => void): void {
  const act = useRef(save);
  act.current = save;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "s" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      act.current();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}
