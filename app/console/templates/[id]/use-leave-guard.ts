"use client";

import { useEffect } from "react";

const QUESTION = "There is text that is not saved. Leave this page?";

/**
 * Asks before unsaved text is left behind, by the browser where the page itself goes, and here where only the console's
 * page changes. What is left all the same comes back with the page, as long as the tab lives.
 */
export function useLeaveGuard(isDirty: boolean): void {
  useEffect(() => {
    if (!isDirty) return;
    const onUnload = (event: BeforeUnloadEvent) => event.preventDefault();
    const onClick = (event: MouseEvent) => {
      const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
      if (!(link instanceof HTMLAnchorElement) || link.target === "_blank" || link.hasAttribute("download"))
        return;
      if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
      const there = new URL(link.href, location.href);
      if (there.origin !== location.origin || there.pathname === location.pathname) return;
      if (window.confirm(QUESTION)) return;
      event.preventDefault();
      event.stopPropagation();
    };
    window.addEventListener("beforeunload", onUnload);
    // Before Next's own links hear of it.
    document.addEventListener("click", onClick, { capture: true });
    return () => {
      window.removeEventListener("beforeunload", onUnload);
      document.removeEventListener("click", onClick, { capture: true });
    };
  }, [isDirty]);
}
