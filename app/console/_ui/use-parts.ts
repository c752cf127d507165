"use client";

import { type QueryKey, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { type Fault, shownFaultOf } from "./fault";

type Part<Sum> = { sum: Sum; next: string | null };
type Progress<Sum> = Part<Sum> & {
  state: "ready" | "busy" | "stopped" | "done" | "failed";
  fault: Fault | null;
};

/**
 * An action on many entries, which the server does in parts. `start` calls its argument with the start of the
 * next part (null for the first one) until there is none; after a stop or a failure it continues with the
 * next part. What is done stays done. Use it in the component that renders the dialog: the state then decides
 * in the same render that shows "Stop" that the dialog cannot be dismissed. `onDone` is called after the last
 * part, once `refresh` is current.
 */
export function useParts<Sum>(none: Sum, refresh: readonly QueryKey[], onDone?: (sum: Sum) => void) {
  const queries = useQueryClient();
  const ready: Progress<Sum> = { state: "ready", sum: none, next: null, fault: null };
  const [progress, setProgress] = useState(ready);
  // Leaving the page or pressing Stop ends the action after the current part.
  const shouldContinue = useRef(true);
  const stop = useCallback(() => {
    shouldContinue.current = false;
  }, []);
  useEffect(() => stop, [stop]);

  const run = async (doPart: (next: string | null, sum: Sum) => Promise<Part<Sum>>) => {
    let { sum, next } = progress;
    let state: Progress<Sum>["state"] = "busy";
    shouldContinue.current = true;
    setProgress({ state, sum, next, fault: null });
    try {
      while (state === "busy") {
        ({ sum, next } = await doPart(next, sum));
        if (next === null) state = "done";
        else if (!shouldContinue.current) state = "stopped";
        setProgress({ state, sum, next, fault: null });
      }
    } catch (error) {
      setProgress({ state: "failed", sum, next, fault: shownFaultOf(error) });
    }
    await Promise.all(refresh.map((queryKey) => queries.invalidateQueries({ queryKey })));
    if (state === "done") onDone?.(sum);
  };
  const { state, sum, fault } = progress;
  const start = (doPart: Parameters<typeof run>[0]) => void run(doPart);
  return { state, sum, fault, start, stop, reset: () => setProgress(ready) };
}
