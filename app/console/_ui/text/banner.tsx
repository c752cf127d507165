"use client";

import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { useTeam } from "../team";
import { useTRPC } from "../trpc";

const refetchMs = 15_000;

/**
 * Lines on every page while accepted email cannot be sent or is paused, or something needs the operator, with the reasons.
 */
export function DeliveryBanner() {
  const trpc = useTRPC();
  const { team } = useTeam();
  const refetch = { refetchInterval: refetchMs, staleTime: refetchMs };
  const { data } = useQuery(trpc.service.readiness.queryOptions(undefined, refetch));
  const { data: active = [] } = useQuery(trpc.service.pauses.queryOptions(undefined, refetch));
  const pauses = active.filter(({ teamId }) => teamId === null || teamId === team?.teamId);
  if (data === undefined) return null;
  const { alarms, unready } = data.isReady
    ? { alarms: data.alarms, unready: [] }
    : { alarms: [], unready: [data.message] };
  const messages = [
    ...unready,
    ...pauses.map(formatPause),
    // The pause of the installation is already among the pauses, with its reason.
    ...alarms
      .filter(({ alarm }) => pauses.length === 0 || alarm !== "sending_paused")
      .map(({ message }) => message),
  ];
  return messages.map((message) => (
    <p key={message} role="status" className="flex gap-2 bg-warn-tint px-4 py-2.5 text-warn md:px-8">
      <TriangleAlert className="mt-0.5 size-4 shrink-0" aria-hidden="true" />
      {message}
    </p>
  ));
}

type Pause = { teamId: string | null; domain: string | null; reason: string; isDeletion: boolean };

const formatPause = ({ teamId, domain, reason, isDeletion }: Pause) =>
  isDeletion
    ? `This team will be deleted. ${reason} Sending is stopped: API keys are rejected, email stays queued, and webhooks get no events.`
    : `${teamId === null ? "The operator paused sending for the whole installation." : `Sending is paused for ${domain ?? "this team"}.`} Email is accepted and stays queued. Reason: ${reason}`;
