"use client";

import { useQuery } from "@tanstack/react-query";
import type { inferRouterOutputs } from "@trpc/server";
import { Suspense, useEffect, useState } from "react";
import type { AppRouter } from "#server/trpc/router";
import { useIsConnectionLost } from "../connection/connection";
import { lazyPart } from "../page/lazy-part";
import { tryStorage } from "../storage";
import { useIsOperator, useTeam } from "../team";
import { useTRPC } from "../trpc";
import type { Step } from "./banner-line";

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

const QUEUES: Step = { to: "/console/installation/queues", label: "View queues" };
const EMAILS: Step = {
  to: "/console/emails",
  parameters: { status: "queued" },
  label: "View queued emails",
};

/** The pages where an operator handles an alarm. The checks explain all others. */
const STEPS: Record<string, Step> = {
  no_transport: {
    to: "/console/installation/relays",
    parameters: { new: "true" },
    label: "Add a relay",
  },
  relays_paused: { to: "/console/installation/relays", label: "View relays" },
  sending_paused: QUEUES,
};
const CHECKS: Step = { to: "/console/installation/doctor", label: "Run checks" };

/**
 * A line on every page for each reason why accepted email cannot be sent or is paused, or that needs the
 * operator. Its details unfold, and it can be dismissed until it is over or the tab is closed.
 */
export function DeliveryBanner() {
  const trpc = useTRPC();
  const { team } = useTeam();
  const isOperator = useIsOperator();
  const refetch = { refetchInterval: refetchMs, staleTime: refetchMs };
  const { data } = useQuery(trpc.service.readiness.queryOptions(undefined, refetch));
  const { data: active } = useQuery(trpc.service.pauses.queryOptions(undefined, refetch));
  const [dismissed, dismiss] = useDismissed(
    data?.isReady && active ? [...data.alarms.map(({ alarm }) => alarm), ...active.map(idOf)] : null,
  );
  // Without a connection the notices may be over, and the code that shows them may not load.
  const isLost = useIsConnectionLost();
  if (data === undefined || isLost) return null;
  const pauses = (active ?? []).filter(({ teamId }) => teamId === null || teamId === team?.teamId);
  const notices: Notice[] = [
    ...(data.isReady ? [] : [{ id: data.message, text: data.message, step: CHECKS }]),
    ...pauses.map((pause) => ({ id: idOf(pause), text: formatPause(pause), step: QUEUES })),
    // The pause of the installation is already among the pauses, with its reason.
    ...(data.isReady ? data.alarms : [])
      .filter(({ alarm }) => pauses.length === 0 || alarm !== "sending_paused")
      .map(({ alarm, message }) => ({ id: alarm, text: message, step: STEPS[alarm] ?? CHECKS })),
  ];
  return notices
    .filter(({ id }) => !dismissed.includes(id))
    .map(({ id, text, step }) => (
      // As high as a line, so that the page below does not move when the line arrives.
      <Suspense key={id} fallback={<div className="h-11 bg-warn-tint" />}>
        <Line text={text} step={isOperator ? step : EMAILS} onDismiss={() => dismiss(id)} />
      </Suspense>
    ));
}

const storageKey = "backstamp.dismissed";

/**
 * The notices that the user dismissed in this tab, and how to dismiss another one. One that is not among the
 * `current` ids is over and is removed, so that the next incident of its kind is shown. Without `current`,
 * which of them are over is unknown.
 */
function useDismissed(current: readonly string[] | null): [readonly string[], (id: string) => void] {
  const [ids, setIds] = useState<readonly string[]>([]);
  useEffect(() => setIds(readDismissed()), []);
  const kept = current === null ? ids : ids.filter((id) => current.includes(id));
  const change = (next: readonly string[]) => {
    setIds(next);
    // Without storage the notice returns with the next page load.
    tryStorage(() => sessionStorage.setItem(storageKey, JSON.stringify(next)));
  };
  useEffect(() => {
    if (kept.length < ids.length) change(kept);
  });
  return [ids, (id) => change([...ids, id])];
}

function readDismissed(): string[] {
  const stored: unknown = tryStorage(() => JSON.parse(sessionStorage.getItem(storageKey) ?? "[]"));
  return Array.isArray(stored) ? stored.filter((id) => typeof id === "string") : [];
}

type Pause = inferRouterOutputs<AppRouter>["service"]["pauses"][number];

/** Another one for each pause, and for a deletion that goes from planned to started. */
const idOf = ({ id, reason }: Pause): string => `${id} ${reason}`;

const formatPause = ({ teamId, domain, reason, isDeletion }: Pause) =>
  isDeletion
    ? `This team will be deleted. ${reason} Sending is stopped: API keys are rejected, email stays queued, and webhooks get no events.`
    : `${teamId === null ? "Sending is paused for the whole installation." : `Sending is paused for ${domain ?? "this team"}.`} Email is accepted and stays queued. Reason: ${reason}`;
