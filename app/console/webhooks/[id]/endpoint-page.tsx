"use client";

import { useQuery } from "@tanstack/react-query";
import { SkeletonCard } from "../../_ui/list/skeleton";
import { useActivePolling } from "../../_ui/live";
import { Fetched } from "../../_ui/page/fetched";
import { PageHeading } from "../../_ui/page/page-heading";
import { BreakableUrl } from "../../_ui/text/address";
import { useTRPC } from "../../_ui/trpc";
import { EndpointBadge, hasPending } from "../badges";
import { EndpointActions } from "./actions";
import { Deliveries } from "./deliveries/deliveries";
import { EndpointFacts, EndpointNote, EventWarnings } from "./facts";
import { Verify } from "./verify";

const back = { href: "/console/webhooks", label: "Webhooks" };

/** One endpoint. Refetches often while event deliveries are pending. */
export function EndpointPage({ teamId, id }: { teamId: string; id: string }) {
  const trpc = useTRPC();
  const refetchInterval = useActivePolling(hasPending, 2_000, 10_000);
  const query = useQuery(trpc.webhooks.get.queryOptions({ team: teamId, id }, { refetchInterval }));
  const { data } = query;
  if (!data)
    return (
      <>
        <PageHeading title="Webhook" back={back} />
        <Fetched by={query}>
          <SkeletonCard lines={5} />
        </Fetched>
      </>
    );
  return (
    <>
      <PageHeading
        title={<BreakableUrl>{data.endpoint.replace(/^https:\/\//, "")}</BreakableUrl>}
        badge={<EndpointBadge of={data} />}
        back={back}
        actions={<EndpointActions teamId={teamId} endpoint={data} />}
      />
      <div className="flex flex-col gap-6">
        <EndpointNote endpoint={data} />
        <EventWarnings endpoint={data} />
        <EndpointFacts endpoint={data} />
        <Deliveries teamId={teamId} endpoint={data} />
        <Verify />
      </div>
    </>
  );
}
