"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useQueryStates } from "nuqs";
import { ToggleGroup } from "radix-ui";
import { faultOf } from "../_ui/fault";
import { FaultNote } from "../_ui/notes";
import { PageHeading } from "../_ui/page-heading";
import { cardStyle } from "../_ui/styles";
import { useTRPC } from "../_ui/trpc";
import { OverviewSkeleton } from "./overview-skeleton";
import { PartsCard } from "./parts-card";
import { overviewSearch, RANGE_LABELS, RANGES } from "./ranges";
import { SetupCard } from "./setup";
import { FailureCard, QueueCard } from "./standing";
import { Tiles } from "./tiles";
import { Traffic } from "./traffic";

/** What stands is looked at often, what is summed up less. A hidden tab asks for nothing. */
const standingMs = 10_000;
const partsMs = 30_000;
const trafficMs = 60_000;

/** How mail goes: what came and what became of it, what is under way, what went wrong and what is broken. */
export function OverviewPage({ teamId, publicUrl }: { teamId: string; publicUrl: string }) {
  const trpc = useTRPC();
  const [{ range }, setSearch] = useQueryStates(overviewSearch);
  const team = { team: teamId };
  const traffic = useQuery(
    trpc.overview.traffic.queryOptions(
      { ...team, range },
      { refetchInterval: trafficMs, placeholderData: keepPreviousData },
    ),
  );
  const standing = useQuery(trpc.overview.standing.queryOptions(team, { refetchInterval: standingMs }));
  const parts = useQuery(trpc.overview.parts.queryOptions(team, { refetchInterval: partsMs }));
  const failed = [traffic, standing, parts].find(({ error, data }) => error && !data);

  return (
    <>
      <PageHeading
        title="Overview"
        actions={
          <ToggleGroup.Root
            type="single"
            aria-label="Span of time"
            value={range}
            onValueChange={(value) => {
              const chosen = RANGES.find((each) => each === value);
              if (chosen) void setSearch({ range: chosen });
            }}
            className="flex rounded-lg border border-line bg-sunk p-0.5"
          >
            {RANGES.map((each) => (
              <ToggleGroup.Item
                key={each}
                value={each}
                className="h-8 rounded-md px-3 font-medium text-soft hover:text-ink data-[state=on]:bg-page data-[state=on]:text-ink data-[state=on]:shadow-sm max-md:h-10"
              >
                {RANGE_LABELS[each]}
              </ToggleGroup.Item>
            ))}
          </ToggleGroup.Root>
        }
      />
      {failed?.error ? (
        <div className={`${cardStyle} mb-6`}>
          <FaultNote fault={faultOf(failed.error)} onRetry={() => void failed.refetch()} />
        </div>
      ) : null}
      {parts.data && !parts.data.setup.hasSent ? (
        <SetupCard setup={parts.data.setup} publicUrl={publicUrl} />
      ) : null}
      {traffic.data && standing.data && parts.data ? (
        <div className={`flex flex-col gap-6 ${traffic.isPlaceholderData ? "opacity-60" : ""}`}>
          <Tiles total={traffic.data.total} pace={traffic.data.pace} />
          <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
            <Traffic traffic={traffic.data} />
            <QueueCard queue={standing.data.queue} />
          </div>
          <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
            <FailureCard failures={standing.data.failures} />
            <PartsCard parts={parts.data} />
          </div>
        </div>
      ) : failed ? null : (
        <OverviewSkeleton />
      )}
    </>
  );
}
