"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { type Fault, faultOf } from "../../_ui/fault";
import { useTRPC } from "../../_ui/trpc";
import type { Range } from "./range";

type Progress = {
  state: "ready" | "busy" | "stopped" | "done" | "failed";
  count: number;
  /** The start of the next part; null: the start of the range. */
  since: string | null;
  fault: Fault | null;
};

const READY: Progress = { state: "ready", count: 0, since: null, fault: null };

/**
 * Replays a range in parts. After a stop or a failure, `start` continues with the next part. Queued events stay queued.
 * Use it in the component that renders the dialog: the state then decides in the same render that shows "Stop" that the
 * dialog cannot be dismissed.
 */
export function useReplay({ teamId, id }: { teamId: string; id: string }) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const replay = useMutation(trpc.webhooks.replayRange.mutationOptions());
  const [progress, setProgress] = useState(READY);
  // Leaving the page or pressing Stop ends the replay after the current part.
  const shouldContinue = useRef(true);
  useEffect(() => {
    shouldContinue.current = true;
    return () => {
      shouldContinue.current = false;
    };
  }, []);

  const run = async (range: Range) => {
    let { count, since } = progress;
    shouldContinue.current = true;
    setProgress({ state: "busy", count, since, fault: null });
    try {
      for (let next: string | null = since ?? range.since; next !== null && shouldContinue.current; ) {
        const part: { count: number; nextSince: string | null } = await replay.mutateAsync({
          team: teamId,
          id,
          ...range,
          since: next,
        });
        count += part.count;
        next = part.nextSince;
        since = next ?? since;
        const state = next === null ? "done" : shouldContinue.current ? "busy" : "stopped";
        setProgress({ state, count, since, fault: null });
      }
    } catch (error) {
      setProgress({ state: "failed", count, since, fault: faultOf(error) });
    }
    await Promise.all(
      [trpc.webhooks.get.queryKey(), trpc.webhooks.deliveries.queryKey()].map((queryKey) =>
        queries.invalidateQueries({ queryKey }),
      ),
    );
  };
  const { state, count, fault } = progress;
  const stop = () => {
    shouldContinue.current = false;
  };
  const reset = () => setProgress(READY);
  return { state, count, fault, start: (range: Range) => void run(range), stop, reset };
}
