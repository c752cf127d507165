"use client";

import { useEffect, useRef } from "react";

const QUESTION = "You have unsaved changes. Leave this page?";

/**
 * Asks for confirmation before the user leaves with unsaved changes: through the browser on unload, and by a dialog on
 * navigation within the console. The changes stay stored in the tab and are restored when the page opens again.
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
      const target = new URL(link.href, location.href);
      if (target.origin !== location.origin || target.pathname === location.pathname) return;
      if (window.confirm(QUESTION)) return;
      event.preventDefault();
      event.stopPropagation();
    };
    window.addEventListener("beforeunload", onUnload);
    // The capture phase runs before the click handlers of Next.js links.
    document.addEventListener("click", onClick, { capture: true });
    return () => {
      window.removeEventListener("beforeunload", onUnload);
      document.removeEventListener("click", onClick, { capture: true });
    };
  }, [isDirty]);
}

/** Ctrl+S (⌘S on a Mac) saves from anywhere on the page, instead of opening the browser's save dialog. */
export function useSaveKey(save: () => void): void {
  const saveRef = useRef(save);
  saveRef.current = save;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "s" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      saveRef.current();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}
