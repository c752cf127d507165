"use client";

import { useQuery } from "@tanstack/react-query";
import { Suspense } from "react";
import { faultOf } from "../../_ui/fault";
import { lazyPart } from "../../_ui/lazy-part";
import { FaultNote } from "../../_ui/notes";
import { PageHeading } from "../../_ui/page-heading";
import { SkeletonCard } from "../../_ui/skeleton";
import { cardStyle } from "../../_ui/styles";
import { useTRPC } from "../../_ui/trpc";
import { ShownUrl } from "../shown-url";
import { EndpointBadge } from "../words";
import { EndpointActions } from "./actions";
import { Deliveries } from "./deliveries";
import { EndpointFacts } from "./facts";
import { LaneNote } from "./lane";

// The last of the page: its words come with the document, and what they can do after everything else.
const Verify = lazyPart(async () => (await import("./verify")).Verify);

const askAgainMs = { moving: 2_000, still: 10_000 };
const back = { href: "/console/webhooks", label: "Webhooks" };

/** One endpoint. Looked at often while something is on its way to it. */
export function EndpointPage({ teamId, id }: { teamId: string; id: string }) {
  const trpc = useTRPC();
  const { data, error, refetch } = useQuery(
    trpc.webhooks.get.queryOptions(
      { team: teamId, id },
      {
        refetchInterval: ({ state }) =>
          (state.data?.waiting ?? 0) + (state.data?.underWay ?? 0) > 0 ? askAgainMs.moving : askAgainMs.still,
      },
    ),
  );
  if (!data)
    return (
      <>
        <PageHeading title="Webhook" back={back} />
        {error ? (
          <div className={cardStyle}>
            <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} />
          </div>
        ) : (
          <SkeletonCard lines={5} />
        )}
      </>
    );
  return (
    <>
      <PageHeading
        title={<ShownUrl>{data.url.replace(/^https:\/\//, "")}</ShownUrl>}
        badge={<EndpointBadge of={data} />}
        back={back}
        actions={<EndpointActions teamId={teamId} endpoint={data} />}
      />
      <div className="flex flex-col gap-6">
        <LaneNote endpoint={data} />
        <EndpointFacts endpoint={data} />
        <Deliveries teamId={teamId} endpoint={data} />
        <Suspense fallback={<SkeletonCard lines={8} />}>
          <Verify teamId={teamId} />
        </Suspense>
      </div>
    </>
  );
}
