"use client";

import { useQuery } from "@tanstack/react-query";
import { CircleHelp, Webhook } from "lucide-react";
import Link from "next/link";
import type { EndpointView } from "#server/trpc/webhooks/views";
import { useCreation } from "../_ui/list/create-button";
import { type Column, DataTable } from "../_ui/list/data-table";
import { Empty } from "../_ui/list/empty";
import { useActivePolling } from "../_ui/live";
import { Fetched } from "../_ui/page/fetched";
import { lazyDialog } from "../_ui/page/lazy-part";
import { PageHeading } from "../_ui/page/page-heading";
import { cardStyle, linkStyle } from "../_ui/styles";
import { useConsoleHref } from "../_ui/team";
import { BreakableUrl } from "../_ui/text/address";
import { When } from "../_ui/text/when";
import { useTRPC } from "../_ui/trpc";
import { EndpointBadge, formatPending, hasPending, ResponseBadge } from "./badges";
import { formatEvents } from "./events";
import { HEADING } from "./loading";

const idleMs = 15_000;

const AddEndpoint = lazyDialog(async () => (await import("./endpoint-form")).AddEndpoint);

/** How many event deliveries failed, with a link to them, and how many attempts of a failing endpoint. */
function Failed({ endpoint: { id, failed, failures, failing_since } }: { endpoint: EndpointView }) {
  const hrefOf = useConsoleHref();
  if (failed === 0 && failing_since === null)
    return (
      <span className="text-soft" title="Of the latest 1,000 event deliveries">
        None
      </span>
    );
  return (
    <span className="block tabular-nums max-lg:inline-block max-lg:align-top">
      {failed === 0 ? null : (
        <Link
          href={hrefOf(`/console/webhooks/${id}`, { status: "failed" })}
          prefetch={false}
          title="Of the latest 1,000 event deliveries"
          className={linkStyle}
        >
          {failed} failed
        </Link>
      )}
      {failing_since === null ? null : (
        <span className="block text-soft text-xs">
          {failures} {failures === 1 ? "attempt" : "attempts"}, first <When at={failing_since} />
        </span>
      )}
    </span>
  );
}

/** The columns of the endpoint list. */
const COLUMNS: readonly Column<EndpointView>[] = [
  {
    header: "URL",
    width: "w-[32%]",
    cell: ({ endpoint }) => (
      <span className="block font-mono text-xs md:truncate" title={endpoint}>
        <BreakableUrl>{endpoint}</BreakableUrl>
      </span>
    ),
  },
  {
    isWide: true,
    header: "Events",
    width: "w-28",
    cell: ({ events }) => <span title={events.join(", ")}>{formatEvents(events)}</span>,
  },
  {
    header: "Last response",
    isWhole: true,
    cell: ({ lastResponse }) =>
      lastResponse ? (
        <span className="inline-flex max-w-full flex-wrap items-center gap-x-2">
          <ResponseBadge of={lastResponse} />
          <When at={lastResponse.sent_at} className="text-soft text-xs" />
        </span>
      ) : (
        <span className="text-soft">None yet</span>
      ),
  },
  {
    isWide: true,
    header: "Pending",
    width: "w-20",
    cell: (endpoint) => <span className="tabular-nums">{formatPending(endpoint)}</span>,
  },
  {
    header: "Failed",
    width: "w-32",
    isActive: true,
    cell: (endpoint) => <Failed endpoint={endpoint} />,
  },
  {
    header: "Status",
    width: "w-36",
    phone: "corner",
    cell: (endpoint) => <EndpointBadge of={endpoint} />,
  },
];

/** The endpoints of the team. */
export function EndpointList({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const refetchInterval = useActivePolling<EndpointView[]>(
    (endpoints) => endpoints.some(hasPending),
    3_000,
    idleMs,
  );
  const list = useQuery(trpc.webhooks.list.queryOptions({ team: teamId }, { refetchInterval }));
  const { button, form } = useCreation(
    AddEndpoint,
    { teamId },
    { label: "Add webhook", permission: "webhooks:write", what: "change webhooks" },
  );
  return (
    <>
      <PageHeading {...HEADING} actions={button} />
      <Fetched by={list}>
        <DataTable
          label="Webhooks"
          columns={COLUMNS}
          rows={list.data ?? []}
          rowHref={({ id }) => `/console/webhooks/${id}`}
          isLoading={!list.data}
          empty={
            <Empty icon={Webhook} title="No webhooks yet" action={button}>
              <p>
                Add your endpoint&apos;s URL. It receives signed events about deliveries, bounces and
                complaints. Failed attempts are retried.
              </p>
            </Empty>
          }
        />
      </Fetched>
      <UnknownOutcomes teamId={teamId} hasEndpoints={(list.data?.length ?? 0) > 0} />
      {form}
    </>
  );
}

type Props = { teamId: string; hasEndpoints: boolean };

/** The number of emails with an unknown outcome, and whether a webhook subscribes to `email.unknown`. */
function UnknownOutcomes({ teamId, hasEndpoints }: Props) {
  const trpc = useTRPC();
  const hrefOf = useConsoleHref();
  const query = useQuery(
    trpc.webhooks.heldUnknown.queryOptions({ team: teamId }, { refetchInterval: idleMs }),
  );
  const { data } = query;
  if (query.error && !data)
    return (
      <div className="mt-6">
        <Fetched by={query}>{null}</Fetched>
      </div>
    );
  if (!data || (data.emails === 0 && !hasEndpoints)) return null;
  const { emails, isAtLeast, policy, isSubscribed } = data;
  return (
    <section aria-labelledby="held-unknown" className={`${cardStyle} mt-6 flex gap-3.5 p-5`}>
      <CircleHelp
        className={`mt-0.5 size-5 shrink-0 ${emails > 0 ? "text-warn" : "text-soft"}`}
        aria-hidden="true"
      />
      <div className="flex min-w-0 flex-col gap-1.5 leading-6">
        <h2 id="held-unknown" className="font-semibold">
          {emails === 0
            ? "No emails with an unknown outcome"
            : `${isAtLeast ? "At least " : ""}${emails} ${emails === 1 ? "email" : "emails"} with an unknown outcome`}
        </h2>
        <p className="max-w-prose text-soft">
          If the connection drops before the server responds, the outcome is unknown.{" "}
          {policy === "hold"
            ? "This team holds these emails until a member or an API request resolves them."
            : "This team sends these emails again automatically."}{" "}
          {isSubscribed
            ? "A webhook subscribes to email.unknown."
            : "No webhook subscribes to email.unknown."}
        </p>
        <p className="flex flex-wrap gap-x-4">
          {emails > 0 ? (
            <Link href={hrefOf("/console/emails", { status: "unknown" })} className={linkStyle}>
              Resolve in Emails
            </Link>
          ) : null}
          <Link href={hrefOf("/console/settings/team")} className={linkStyle}>
            Team settings
          </Link>
        </p>
      </div>
    </section>
  );
}
