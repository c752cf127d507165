"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Suspense, useState } from "react";
import { dayMs } from "#server/shared/durations";
import { CAPTURED } from "#server/shared/email-words";
import { Toggle } from "../_ui/form/toggle";
import { SkeletonCard } from "../_ui/list/skeleton";
import { useSearch } from "../_ui/list/use-search";
import { usePolling } from "../_ui/live";
import { Fetched } from "../_ui/page/fetched";
import { lazyPart } from "../_ui/page/lazy-part";
import { PageHeading } from "../_ui/page/page-heading";
import { MessageText } from "../_ui/text/address";
import { useTRPC } from "../_ui/trpc";
import { AlertNotices } from "./alert-notices";
import { HeldNotice } from "./held/held-notice";
import { OverviewSkeleton } from "./overview-skeleton";
import { QueueCard } from "./queue-card";
import { overviewSearch, RANGE_LABELS, RANGES, trafficInput } from "./ranges";
import { SetupCard } from "./setup/setup-card";
import { Tiles } from "./traffic/tiles";
import { Traffic } from "./traffic/traffic";
import { TrafficFilters } from "./traffic/traffic-filters";

/** Below the chart. While it loads, it has a placeholder of about the same height. */
const Breakdown = lazyPart(async () => (await import("./traffic/breakdown")).Breakdown);
/** Last on the page, so the arrival of these two moves nothing. */
const FailureCard = lazyPart(async () => (await import("./failure-card")).FailureCard);
const PartsCard = lazyPart(async () => (await import("./parts-card")).PartsCard);

/** Refetch intervals: short for the current state, longer for aggregates. Hidden tabs do not refetch. */
const standingMs = 10_000;
const partsMs = 30_000;
const trafficMs = 60_000;
const columns = "grid grid-cols-1 items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]";

/** The UTC day this many days ago. */
const dayBefore = (days: number): string => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10);

/**
 * The overview: traffic and its results, the queue, recent failures, and the health of relays and webhooks.
 */
export function OverviewPage({ teamId, publicUrl }: { teamId: string; publicUrl: string }) {
  const trpc = useTRPC();
  const polling = usePolling();
  const [search, setSearch] = useSearch(overviewSearch);
  const team = { team: teamId };
  const options = { refetchInterval: polling(trafficMs), placeholderData: keepPreviousData };
  const traffic = useQuery(trpc.overview.traffic.queryOptions(trafficInput(teamId, search), options));
  // The most expensive query of the page, so it starts when the user needs tags.
  const [shouldReadTags, setReadTags] = useState(false);
  const readTags = () => setReadTags(true);
  const tags = useQuery(
    trpc.overview.tags.queryOptions(trafficInput(teamId, { ...search, tag: null }), {
      ...options,
      enabled: shouldReadTags,
    }),
  );
  const standing = useQuery(
    trpc.overview.standing.queryOptions(team, { refetchInterval: polling(standingMs) }),
  );
  const parts = useQuery(trpc.overview.parts.queryOptions(team, { refetchInterval: polling(partsMs) }));
  // The card stays when the last step is done, because it may show a key that is shown only once.
  const [isSettingUp, setSettingUp] = useState(false);
  if (parts.data && !parts.data.setup.hasSent && !isSettingUp) setSettingUp(true);

  return (
    <>
      <PageHeading
        title="Overview"
        actions={
          <Toggle
            label="Time range"
            value={search.range}
            options={RANGES.map((value) => ({ value, label: RANGE_LABELS[value] }))}
            onChange={(chosen) =>
              setSearch(
                chosen === "days"
                  ? { since: dayBefore(6), until: dayBefore(0), range: chosen }
                  : { range: chosen },
              )
            }
            className="rounded-lg border border-line bg-sunk p-0.5"
            itemClassName="h-8 rounded-md px-3 font-medium text-soft hover:text-ink max-md:px-2 aria-pressed:bg-raised aria-pressed:text-ink aria-pressed:shadow-sm max-md:h-10"
          />
        }
      />
      <HeldNotice teamId={teamId} />
      <AlertNotices teamId={teamId} />
      {parts.data && isSettingUp ? (
        <SetupCard teamId={teamId} setup={parts.data.setup} publicUrl={publicUrl} />
      ) : null}
      <TrafficFilters
        teamId={teamId}
        search={search}
        tags={(tags.data?.rows ?? []).map(({ name }) => name).filter((name) => name.includes(":"))}
        onTags={readTags}
        change={setSearch}
      />
      {[traffic, standing, parts].every(({ isPending }) => isPending) ? (
        <OverviewSkeleton />
      ) : (
        <div className={`flex flex-col gap-6 ${traffic.isPlaceholderData ? "opacity-60" : ""}`}>
          <Fetched by={traffic} loading={<SkeletonCard />}>
            {(data) => <Tiles {...data} />}
          </Fetched>
          {parts.data?.setup.isCapturing ? (
            <p className="-mt-3 text-soft text-xs">
              <MessageText>{`${CAPTURED} It counts as delivered.`}</MessageText>
            </p>
          ) : null}
          <div className={columns}>
            {traffic.data ? <Traffic traffic={traffic.data} /> : null}
            {traffic.isPending ? <SkeletonCard lines={12} /> : null}
            <Fetched by={standing} loading={<SkeletonCard lines={6} />}>
              {({ queue }) => <QueueCard queue={queue} />}
            </Fetched>
          </div>
          {traffic.data ? (
            <Suspense fallback={<SkeletonCard lines={3 + traffic.data.byProvider.rows.length} />}>
              <Breakdown traffic={traffic.data} tags={tags} onTags={readTags} />
            </Suspense>
          ) : null}
          <div className={columns}>
            {standing.data ? (
              <Suspense fallback={<SkeletonCard lines={6} />}>
                <FailureCard failures={standing.data.failures} />
              </Suspense>
            ) : null}
            {standing.isPending ? <SkeletonCard lines={6} /> : null}
            <Fetched by={parts} loading={<SkeletonCard />}>
              {(data) => (
                <Suspense fallback={<SkeletonCard />}>
                  <PartsCard parts={data} />
                </Suspense>
              )}
            </Fetched>
          </div>
        </div>
      )}
    </>
  );
}
