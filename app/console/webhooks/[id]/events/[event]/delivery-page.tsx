"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import type { WebhookAttemptWire } from "#server/shared/wire/webhook";
import type { WebhookDeliveryView } from "#server/trpc/webhooks/webhooks";
import { formatNumber } from "../../../../_ui/format-number";
import { SkeletonCard } from "../../../../_ui/list/skeleton";
import { useActivePolling, usePolling } from "../../../../_ui/live";
import { Section } from "../../../../_ui/page/card";
import { Fact, Facts } from "../../../../_ui/page/facts";
import { Fetched } from "../../../../_ui/page/fetched";
import { PageHeading } from "../../../../_ui/page/page-heading";
import { cardStyle, linkStyle } from "../../../../_ui/styles";
import { useConsoleHref } from "../../../../_ui/team";
import { Address, MessageText } from "../../../../_ui/text/address";
import { StatusBadge } from "../../../../_ui/text/badge";
import { BodyBlock, CodeBlock } from "../../../../_ui/text/code-block";
import { formatDuration, When } from "../../../../_ui/text/when";
import { useTRPC } from "../../../../_ui/trpc";
import { DeliveryBadge, formatFault, isInProgress, ResponseBadge, TestBadge } from "../../../badges";
import { describeEvent } from "../../../events";
import { ReplayButton } from "../../deliveries/replay-button";
import { EndpointNote } from "../../facts";

const idleMs = 10_000;

/** One event delivery. Refetches often while it is pending. */
export function DeliveryPage({ teamId, id, event }: { teamId: string; id: string; event: string }) {
  const trpc = useTRPC();
  const polling = usePolling();
  const refetchInterval = useActivePolling(isInProgress, 1_500, idleMs);
  const back = { href: `/console/webhooks/${id}`, label: "Webhook" };
  const endpointQuery = useQuery(
    trpc.webhooks.get.queryOptions({ team: teamId, id }, { refetchInterval: polling(idleMs) }),
  );
  const deliveryQuery = useQuery(
    trpc.webhooks.delivery.queryOptions({ team: teamId, id, event }, { refetchInterval }),
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
        badge={
          <>
            {data.isTest ? <TestBadge /> : null}
            <DeliveryBadge of={data} />
          </>
        }
        back={back}
        description={
          <>
            {describeEvent(data.type) ? `${describeEvent(data.type)}. Created ` : "Created "}
            <When at={data.created_at} />
          </>
        }
        actions={<ReplayButton teamId={teamId} endpoint={endpoint} delivery={data} />}
      />
      <div className="flex flex-col gap-6">
        {data.status === "pending" ? <EndpointNote endpoint={endpoint} /> : null}
        <EmailFacts delivery={data} />
        <NextAttempt delivery={data} />
        <Attempts {...data.attemptPage} />
        <BodyBlock
          text={JSON.stringify(data.payload)}
          label={data.isPayloadFixed ? "Request body" : "Request body, as of now"}
        />
      </div>
    </>
  );
}

/**
 * Recipient, subject and current status of the email that the event is about. Nothing for an event without an
 * email.
 */
function EmailFacts({ delivery: { email_id: id, email } }: { delivery: WebhookDeliveryView }) {
  const hrefOf = useConsoleHref();
  if (id === null) return null;
  if (email === null) return <p className="text-soft">The email of this event is no longer retained.</p>;
  return (
    <Facts>
      <Fact name="Recipient" width="half">
        {email.recipient === null ? "None" : <Address>{email.recipient}</Address>}
      </Fact>
      <Fact name="Subject" width="half">
        <Link href={hrefOf(`/console/emails/${id}`)} className={linkStyle}>
          {email.subject || "(no subject)"}
        </Link>
      </Fact>
      <Fact name="Email status">
        <StatusBadge status={email.status} />
      </Fact>
    </Facts>
  );
}

/**
 * The time of the next attempt, the retry schedule, and the attempts so far. A replay restarts the schedule.
 */
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
        {status === "pending" && next_attempt_at ? <When isDue at={next_attempt_at} /> : null}
      </h2>
      <p className="max-w-prose text-soft">
        {status === "success"
          ? `Attempt ${formatNumber(attempts)} received a 2xx response. `
          : status === "pending" && attempts === 0
            ? "The first attempt starts as soon as the queue allows. "
            : `${formatNumber(attempts)} of ${attemptsMax} attempts made. `}
        {status === "success"
          ? null
          : `Delays between attempts: ${delays}. Each delay varies by up to 20%, which spreads out simultaneous retries. `}
        A replay sends the event again, with a new retry schedule.
      </p>
    </section>
  );
}

/** The attempts of an event delivery, latest first, with request and response. */
const Attempts = ({ rows, hasMore }: { rows: WebhookAttemptWire[]; hasMore: boolean }) => (
  <Section title="Attempts" note={hasMore ? "The latest 100." : undefined}>
    {rows.length === 0 ? (
      <p className="px-5 pb-5 text-soft">None yet.</p>
    ) : (
      <ol aria-label="Attempts" className="divide-y divide-line border-line border-t">
        {rows.map((attempt, index) => (
          <li key={attempt.id}>
            <Attempt attempt={attempt} isOpen={index === 0} />
          </li>
        ))}
      </ol>
    )}
  </Section>
);

function Attempt({ attempt, isOpen }: { attempt: WebhookAttemptWire; isOpen: boolean }) {
  const { number, duration_ms, sent_at, next_attempt_at, response, fault, request } = attempt;
  return (
    <details open={isOpen}>
      <summary className="flex min-h-12 flex-wrap items-center gap-x-3 gap-y-1 px-5 py-2.5 hover:bg-sunk focus-visible:-outline-offset-2">
        <span className="text-soft tabular-nums">{number}.</span>
        <ResponseBadge of={attempt} />
        <span className="text-soft text-xs tabular-nums">{duration_ms} ms</span>
        <When at={sent_at} className="ml-auto text-soft text-xs" />
      </summary>
      <div className="grid min-w-0 gap-4 px-5 pt-1 pb-5 lg:grid-cols-2">
        <CodeBlock text={requestText(request)} label="Request" language="HTTP" />
        <div className="flex min-w-0 flex-col gap-3">
          {response === null ? (
            <p className="text-soft leading-6">
              <MessageText>{`No response: ${formatFault(fault)}.`}</MessageText>
            </p>
          ) : response === "" ? (
            <p className="text-soft leading-6">The response has no body.</p>
          ) : (
            <BodyBlock text={response} label="Response" />
          )}
          {next_attempt_at ? (
            <p className="text-soft text-xs">
              Next attempt: <When isDue at={next_attempt_at} />.
            </p>
          ) : null}
        </div>
      </div>
    </details>
  );
}

const requestText = ({ url, headers }: WebhookAttemptWire["request"]): string =>
  [
    `POST ${url}`,
    // The `svix-` names of the same three headers last.
    ...Object.entries(headers)
      .sort(([a], [b]) => Number(a.startsWith("svix-")) - Number(b.startsWith("svix-")) || a.localeCompare(b))
      .map(([name, value]) => `${name}: ${value}`),
  ].join("\n");
