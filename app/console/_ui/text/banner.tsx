"use client";

import { useQuery } from "@tanstack/react-query";
import { Suspense, useEffect, useState } from "react";
import { lazyPart } from "../page/lazy-part";
import { useTeam } from "../team";
import { useTRPC } from "../trpc";

const Line = lazyPart(async () => (await import("./banner-line")).BannerLine);

const refetchMs = 15_000;

type Notice = {
  /**
   * The same as long as it is about the same, so that a dismissed notice with a growing number stays
   * dismissed.
   */
  id: string;
  text: string;
  step: Step;
};
type Step = { path: string; label: string };

const QUEUES: Step = { path: "/console/installation/queues", label: "View queues" };

/** The pages where an operator handles an alarm. The checks explain all others. */
const STEPS: Record<string, Step> = {
  no_transport: { path: "/console/installation/relays", label: "Add a relay" },
  relays_paused: { path: "/console/installation/relays", label: "View relays" },
  sending_paused: QUEUES,
};
const CHECKS: Step = { path: "/console/installation/doctor", label: "Run checks" };

/**
 * A line on every page for each reason why accepted email cannot be sent or is paused, or that needs the
 * operator. Its details unfold, and it can be dismissed until the browser is closed.
 */
export function DeliveryBanner() {
  const trpc = useTRPC();
  const { team } = useTeam();
  const [dismissed, dismiss] = useDismissed();
  const refetch = { refetchInterval: refetchMs, staleTime: refetchMs };
  const { data } = useQuery(trpc.service.readiness.queryOptions(undefined, refetch));
  const { data: active = [] } = useQuery(trpc.service.pauses.queryOptions(undefined, refetch));
  const pauses = active.filter(({ teamId }) => teamId === null || teamId === team?.teamId);
  if (data === undefined) return null;
  const notices: Notice[] = [
    ...(data.isReady ? [] : [{ id: data.message, text: data.message, step: CHECKS }]),
    ...pauses.map(formatPause).map((text) => ({ id: text, text, step: QUEUES })),
    // The pause of the installation is already among the pauses, with its reason.
    ...(data.isReady ? data.alarms : [])
      .filter(({ alarm }) => pauses.length === 0 || alarm !== "sending_paused")
      .map(({ alarm, message }) => ({ id: alarm, text: message, step: STEPS[alarm] ?? CHECKS })),
  ];
  return notices
    .filter(({ id }) => !dismissed.includes(id))
    .map((notice) => (
      // As high as a line, so that the page below does not move when the line arrives.
      <Suspense key={notice.id} fallback={<div className="h-11 bg-warn-tint" />}>
        <Line text={notice.text} step={notice.step} onDismiss={() => dismiss(notice.id)} />
      </Suspense>
    ));
}

const storageKey = "backstamp.dismissed";

/** The notices that the user dismissed in this tab, and how to dismiss another one. */
function useDismissed(): [readonly string[], (id: string) => void] {
  const [ids, setIds] = useState<readonly string[]>([]);
  useEffect(() => setIds(readDismissed()), []);
  return [
    ids,
    (id) => {
      const next = [...ids, id];
      setIds(next);
      try {
        sessionStorage.setItem(storageKey, JSON.stringify(next));
      } catch {
        // Without storage the notice returns with the next page load.
      }
    },
  ];
}

function readDismissed(): string[] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(storageKey) ?? "[]");
    return Array.isArray(stored) ? stored.filter((id) => typeof id === "string") : [];
  } catch {
    return [];
  }
}

type Pause = { teamId: string | null; domain: string | null; reason: string; isDeletion: boolean };

const formatPause = ({ teamId, domain, reason, isDeletion }: Pause) =>
  isDeletion
    ? `This team will be deleted. ${reason} Sending is stopped: API keys are rejected, email stays queued, and webhooks get no events.`
    : `${teamId === null ? "The operator paused sending for the whole installation." : `Sending is paused for ${domain ?? "this team"}.`} Email is accepted and stays queued. Reason: ${reason}`;
