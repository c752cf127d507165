"use client";

import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { useTRPC } from "../trpc";

const refetchMs = 15_000;

/** Lines on every page while accepted email cannot be sent, or something needs the operator, with the reasons. */
export function DeliveryBanner() {
  const trpc = useTRPC();
  const { data } = useQuery(
    trpc.service.readiness.queryOptions(undefined, { refetchInterval: refetchMs, staleTime: refetchMs }),
  );
  if (data === undefined) return null;
  const messages = data.isReady ? data.alarms.map(({ message }) => message) : [data.message];
  return messages.map((message) => (
    <p key={message} role="status" className="flex gap-2 bg-warn-tint px-4 py-2.5 text-warn md:px-8">
      <TriangleAlert className="mt-0.5 size-4 shrink-0" aria-hidden="true" />
      {message}
    </p>
  ));
}
