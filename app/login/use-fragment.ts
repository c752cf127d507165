"use client";

import { useEffect, useState } from "react";

/**
 * The URL fragment without "#". Null until it is read, "" if there is none. It is removed from the URL
 * immediately, because it can contain a secret that must not stay in the browser history or in a screenshot.
 */
export function useFragment(): string | null {
  const [fragment, setFragment] = useState<string | null>(null);
  useEffect(() => {
    const read = () => {
      const { hash, pathname, search } = window.location;
      setFragment((known) => (hash.length > 1 ? hash.slice(1) : (known ?? "")));
      if (hash !== "") window.history.replaceState(window.history.state, "", `${pathname}${search}`);
    };
    read();
    window.addEventListener("hashchange", read);
    return () => window.removeEventListener("hashchange", read);
  }, []);
  return fragment;
}
