"use client";

import { useEffect } from "react";
import { focusSearch, isPageKey, moveInList, openRow } from "./keys";

/** The keys that every page of the console knows. Lists and search fields take part by their `data-row` and `data-search`. */
export function Keyboard() {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!isPageKey(event)) return;
      if (event.key === "/" && focusSearch()) event.preventDefault();
      if (event.key === "j") moveInList(1);
      if (event.key === "k") moveInList(-1);
      if (event.key === "o") openRow();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  return null;
}
