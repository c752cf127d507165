"use client";

import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { useTRPC } from "../trpc";

const refetchMs = 15_000;

/** A line on every page while accepted email cannot be sent, or a relay is failing, with the reason. */
export function DeliveryBanner() {
  const trpc = useTRPC();
  const { data } = useQuery(
    trpc.service.readiness.queryOptions(undefined, { refetchInterval: refetchMs, staleTime: refetchMs }),
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
