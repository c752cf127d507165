"use client";

import { useRouter } from "next/navigation";
import { useEffect, useRef, useState } from "react";

/**
 * Stops the user from leaving with unsaved changes by accident: through the browser on unload, and on
 * navigation within the console. `target` is then where the link leads, for a dialog that asks. The changes
 * stay stored in the tab and are restored when the page opens again.
 */
export function useLeaveGuard(isDirty: boolean) {
  const router = useRouter();
  const [target, setTarget] = useState<URL | null>(null);
  useEffect(() => {
    if (!isDirty) return;
    const onUnload = (event: BeforeUnloadEvent) => event.preventDefault();
    const onClick = (event: MouseEvent) => {
      const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
      // A link with a target opens another window.
      if (!(link instanceof HTMLAnchorElement) || link.target !== "" || link.hasAttribute("download")) return;
      if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
      const target = new URL(link.href, location.href);
      if (target.origin !== location.origin || target.pathname === location.pathname) return;
      event.preventDefault();
      event.stopPropagation();
      setTarget(target);
    };
    window.addEventListener("beforeunload", onUnload);
    // The capture phase runs before the click handlers of Next.js links.
    document.addEventListener("click", onClick, { capture: true });
    return () => {
      window.removeEventListener("beforeunload", onUnload);
      document.removeEventListener("click", onClick, { capture: true });
    };
  }, [isDirty]);
  return {
    target,
    stay: () => setTarget(null),
    leave: () => {
      setTarget(null);
      if (target) router.push(`${target.pathname}${target.search}${target.hash}`);
    },
  };
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
