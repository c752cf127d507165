"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { SkeletonCard } from "../../../../_ui/list/skeleton";
import { Fetched } from "../../../../_ui/page/fetched";
import { PageHeading } from "../../../../_ui/page/page-heading";
import { linkStyle } from "../../../../_ui/styles";
import { useConsoleHref } from "../../../../_ui/team";
import { CodeBlock } from "../../../../_ui/text/code-block";
import { When } from "../../../../_ui/text/when";
import { useTRPC } from "../../../../_ui/trpc";
import { DeliveryBadge } from "../../../badges";
import { describeEvent } from "../../../events";
import { EndpointNote } from "../../endpoint-note";
import { Attempts } from "./attempts";
import { NextAttempt } from "./next-attempt";
import { ReplayButton } from "./replay-button";

const refetchMs = { active: 1_500, idle: 10_000 };

/** One event delivery. Refetches often while it is pending. */
export function DeliveryPage({ teamId, id, event }: { teamId: string; id: string; event: string }) {
  const trpc = useTRPC();
  const hrefOf = useConsoleHref();
  const back = { href: `/console/webhooks/${id}`, label: "Webhook" };
  const endpointQuery = useQuery(
    trpc.webhooks.get.queryOptions({ team: teamId, id }, { refetchInterval: refetchMs.idle }),
  );
  const deliveryQuery = useQuery(
    trpc.webhooks.delivery.queryOptions(
      { team: teamId, id, event },
      {
        refetchInterval: ({ state }) =>
          state.data?.status === "pending" || state.data?.status === "attempting"
            ? refetchMs.active
            : refetchMs.idle,
      },
    ),
  );
  const endpoint = endpointQuery.data;
  const { data } = deliveryQuery;
  if (!data || !endpoint)
    return (
      <>
        <PageHeading title="Event delivery" back={back} />
        <Fetched by={data ? endpointQuery : deliveryQuery}>
          <SkeletonCard lines={6} />
        </Fetched>
      </>
    );
  return (
    <>
      <PageHeading
        title={data.type}
        badge={<DeliveryBadge status={data.status} />}
        back={back}
        description={
          <>
            {describeEvent(data.type) ? `${describeEvent(data.type)}. Created ` : "Created "}
            <When at={data.created_at} />
            {data.email_id ? (
              <>
                {" for "}
                <Link href={hrefOf(`/console/emails/${data.email_id}`)} className={linkStyle}>
                  this email
                </Link>
              </>
            ) : null}
          </>
        }
        actions={<ReplayButton teamId={teamId} endpoint={endpoint} delivery={data} />}
      />
      <div className="flex flex-col gap-6">
        {data.status === "pending" ? <EndpointNote endpoint={endpoint} /> : null}
        <NextAttempt delivery={data} />
        <Attempts {...data.attemptPage} />
        <CodeBlock
          text={JSON.stringify(data.payload)}
          label={data.isPayloadFixed ? "Request body" : "Request body, as of now"}
          language="JSON"
        />
      </div>
    </>
  );
}
