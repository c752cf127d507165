"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { CodeBlock } from "../../../../_ui/code-block";
import { faultOf } from "../../../../_ui/fault";
import { FaultNote } from "../../../../_ui/notes";
import { PageHeading } from "../../../../_ui/page-heading";
import { SkeletonCard } from "../../../../_ui/skeleton";
import { cardStyle, linkStyle } from "../../../../_ui/styles";
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
  const { data: endpoint } = useQuery(
    trpc.webhooks.get.queryOptions({ team: teamId, id }, { refetchInterval: askAgainMs.still }),
  );
  const { data, error, refetch } = useQuery(
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
  if (!data || !endpoint)
    return (
      <>
        <PageHeading title="Webhook event" back={back} />
        {error ? (
          <div className={cardStyle}>
            <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} />
          </div>
        ) : (
          <SkeletonCard lines={6} />
        )}
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
