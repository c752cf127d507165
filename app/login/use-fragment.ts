"use client";

import { useEffect, useState } from "react";

/**
 * What stands behind the # of the address: null until it is read, "" where there is nothing. It is taken out of the address
 * as soon as it is read, so that it stays in no history and on no picture of the screen.
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
