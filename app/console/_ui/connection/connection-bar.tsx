"use client";

import { useQueryClient } from "@tanstack/react-query";
import { WifiOff } from "lucide-react";
import { useOffline } from "next/offline";
import { useEffect, useRef } from "react";
import { checkConnection, useIsConnectionLost, watchNetwork } from "./connection";

/**
 * Says that the connection is lost, as long as it is. After that the page reads its data again, and pages
 * that were opened meanwhile load: Next.js keeps their requests.
 */
export function ConnectionBar() {
  const queries = useQueryClient();
  const isLost = useIsConnectionLost();
  const wasLost = useRef(false);
  // A page that could not be loaded, while the browser has a network.
  const hasFailedPage = useOffline();
  useEffect(watchNetwork, []);
  useEffect(() => {
    if (hasFailedPage) void checkConnection();
  }, [hasFailedPage]);
  useEffect(() => {
    if (!isLost && wasLost.current) void queries.invalidateQueries();
    wasLost.current = isLost;
  }, [isLost, queries]);
  return (
    // The live region exists before its text, or a screen reader does not announce it. `aria-live` also keeps
    // it announced while a dialog hides the rest of the page.
    <div
      role="status"
      aria-live="polite"
      className={
        isLost
          ? "sticky top-0 z-10 flex items-start gap-2 bg-bad-tint px-4 py-2.5 text-bad leading-6 max-md:top-14 md:px-8 print:hidden"
          : ""
      }
    >
      {isLost ? (
        <>
          <WifiOff className="mt-1 size-4 shrink-0" />
          <p>
            <span className="font-medium">No connection to the service. Reconnecting…</span> What you entered
            stays on this page, and what you open loads when the connection is back.
          </p>
        </>
      ) : null}
    </div>
  );
}
