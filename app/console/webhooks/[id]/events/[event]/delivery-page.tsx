"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { CodeBlock } from "../../../../_ui/code-block";
import { Fetched } from "../../../../_ui/fetched";
import { PageHeading } from "../../../../_ui/page-heading";
import { SkeletonCard } from "../../../../_ui/skeleton";
import { linkStyle } from "../../../../_ui/styles";
import { useConsoleHref } from "../../../../_ui/team";
import { useTRPC } from "../../../../_ui/trpc";
import { When } from "../../../../_ui/when";
import { sayEvent } from "../../../events";
import { DeliveryBadge } from "../../../words";
import { LaneNote } from "../../lane";
import { Calls } from "./calls";
import { NextCall } from "./next-call";
import { ReplayButton } from "./replay-button";

const askAgainMs = { moving: 1_500, still: 10_000 };

/** One event of an endpoint. Looked at often while it is on its way. */
export function DeliveryPage({ teamId, id, event }: { teamId: string; id: string; event: string }) {
  const trpc = useTRPC();
  const hrefOf = useConsoleHref();
  const back = { href: `/console/webhooks/${id}`, label: "Webhook" };
  const asked = useQuery(
    trpc.webhooks.get.queryOptions({ team: teamId, id }, { refetchInterval: askAgainMs.still }),
  );
  const delivered = useQuery(
    trpc.webhooks.delivery.queryOptions(
      { team: teamId, id, event },
      {
        refetchInterval: ({ state }) =>
          state.data?.status === "pending" || state.data?.status === "attempting"
            ? askAgainMs.moving
            : askAgainMs.still,
      },
    ),
  );
  const endpoint = asked.data;
  const { data } = delivered;
  if (!data || !endpoint)
    return (
      <>
        <PageHeading title="Webhook event" back={back} />
        <Fetched by={data ? asked : delivered}>
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
            {sayEvent(data.type) ? `It tells that ${sayEvent(data.type)}; made ` : "Made "}
            <When at={data.createdAt} />
            {data.emailId ? (
              <>
                {", about "}
                <Link href={hrefOf(`/console/emails/${data.emailId}`)} className={linkStyle}>
                  this mail
                </Link>
              </>
            ) : null}
          </>
        }
        actions={<ReplayButton teamId={teamId} endpoint={endpoint} delivery={data} />}
      />
      <div className="flex flex-col gap-6">
        {data.status === "pending" ? <LaneNote endpoint={endpoint} /> : null}
        <NextCall delivery={data} />
        <Calls delivery={data} />
        <CodeBlock
          text={data.body}
          label={data.isBodyFixed ? "Body, as it was sent" : "Body, as it would be sent now"}
          language="JSON"
        />
      </div>
    </>
  );
}
