"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import type { WebhookDeliveryView } from "#server/trpc/webhooks/webhooks";
import { SkeletonCard } from "../../../../_ui/list/skeleton";
import { Fetched } from "../../../../_ui/page/fetched";
import { PageHeading } from "../../../../_ui/page/page-heading";
import { cardStyle, linkStyle } from "../../../../_ui/styles";
import { useConsoleHref } from "../../../../_ui/team";
import { CodeBlock } from "../../../../_ui/text/code-block";
import { formatDuration, When } from "../../../../_ui/text/when";
import { useTRPC } from "../../../../_ui/trpc";
import { DeliveryBadge } from "../../../badges";
import { describeEvent } from "../../../events";
import { EndpointNote } from "../../endpoint-note";
import { Attempts } from "./attempts";
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

/** The time of the next attempt, the retry schedule, and the attempts so far. A replay restarts the schedule. */
function NextAttempt({ delivery }: { delivery: WebhookDeliveryView }) {
  const { status, attempts, next_attempt_at, retryAfterSeconds } = delivery;
  const attemptsMax = retryAfterSeconds.length + 1;
  // A number and its unit stay on one line.
  const delays = retryAfterSeconds
    .map((seconds) => formatDuration(seconds * 1_000).replace(" ", "\u00a0"))
    .join(", ");
  return (
    <section aria-labelledby="next-attempt" className={`${cardStyle} flex flex-col gap-1.5 p-5 leading-6`}>
      <h2 id="next-attempt" className="font-semibold">
        {status === "success"
          ? "Succeeded"
          : status === "failed"
            ? "No attempt scheduled"
            : status === "attempting"
              ? "Attempt in progress"
              : "Next attempt "}
        {status === "pending" && next_attempt_at ? <When at={next_attempt_at} /> : null}
      </h2>
      <p className="max-w-prose text-soft">
        {status === "success"
          ? `Attempt ${attempts} received a 2xx response. `
          : status === "pending" && attempts === 0
            ? "The first attempt starts as soon as the queue allows. "
            : `${attempts} of at most ${attemptsMax} attempts were made. `}
        {status === "success"
          ? null
          : `Delays between attempts: ${delays}. Each delay varies by up to 20%, which spreads out simultaneous retries. `}
        A replay restarts the schedule.
      </p>
    </section>
  );
}
