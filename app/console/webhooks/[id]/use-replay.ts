"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { type Fault, faultOf } from "../../_ui/fault";
import { useTRPC } from "../../_ui/trpc";
import type { Range } from "./range";

type Progress = {
  state: "ready" | "busy" | "stopped" | "done" | "failed";
  count: number;
  since: string;
  fault: Fault | null;
};

/** Replays a range part by part, and goes on where it was interrupted. What was begun stays begun. */
export function useReplay({ teamId, id, range }: { teamId: string; id: string; range: Range }) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const replay = useMutation(trpc.webhooks.replayRange.mutationOptions());
  const [progress, setProgress] = useState<Progress>({
    state: "ready",
    count: 0,
    since: range.since,
    fault: null,
  });
  // Whoever leaves the page wants no further parts, nor does whoever stops it.
  const isWanted = useRef(true);
  useEffect(() => {
    isWanted.current = true;
    return () => {
      isWanted.current = false;
    };
  }, []);

  const run = async () => {
    let { count, since } = progress;
    isWanted.current = true;
    setProgress({ state: "busy", count, since, fault: null });
    try {
      for (let next: string | null = since; next !== null && isWanted.current; ) {
        const part: { count: number; nextSince: string | null } = await replay.mutateAsync({
          team: teamId,
          id,
          ...range,
          since: next,
        });
        count += part.count;
        next = part.nextSince;
        since = next ?? since;
        const state = next === null ? "done" : isWanted.current ? "busy" : "stopped";
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
    isWanted.current = false;
  };
  return { state, count, fault, start: () => void run(), stop };
}
