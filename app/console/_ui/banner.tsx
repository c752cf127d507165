"use client";

import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { useTRPC } from "./trpc";

const askAgainMs = 15_000;

/** One line on every page while mail that is accepted does not leave, or not by every relay, with the reason. */
export function DeliveryBanner() {
  const trpc = useTRPC();
  const { data } = useQuery(
    trpc.service.readiness.queryOptions(undefined, { refetchInterval: askAgainMs, staleTime: askAgainMs }),
  );
  const message = data?.isReady ? data.alarms[0]?.message : data?.message;
  if (message === undefined) return null;
  return (
    <p role="status" className="flex gap-2 bg-warn-tint px-4 py-2.5 text-warn md:px-8">
      <TriangleAlert className="mt-0.5 size-4 shrink-0" aria-hidden="true" />
      {message}
    </p>
  );
}
