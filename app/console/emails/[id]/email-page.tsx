"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { EmailView } from "#server/trpc/emails/views";
import { formatNumber } from "../../_ui/format-number";
import { usePolling } from "../../_ui/live";
import { Fetched } from "../../_ui/page/fetched";
import { PageHeading } from "../../_ui/page/page-heading";
import { AddressText } from "../../_ui/text/address";
import { StatusBadge } from "../../_ui/text/badge";
import { CopyButton } from "../../_ui/text/copy-button";
import { refetchIntervalMs } from "../../_ui/text/statuses";
import { ExactTimes, Moment, When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { Recipients, Timeline } from "./delivery";
import { EmailActions } from "./email-actions";
import { Facts } from "./facts";
import EmailLoading from "./loading";
import { MessageTabs } from "./message-tabs";
import { WebhookDeliveries } from "./webhook-deliveries";

/** One email. It refetches while a recipient has no final status. */
export function EmailPage({ teamId, id }: { teamId: string; id: string }) {
  const trpc = useTRPC();
  const polling = usePolling();
  const [isExact, setExact] = useState(false);
  const email = useQuery(
    trpc.emails.get.queryOptions(
      { team: teamId, id },
      {
        refetchInterval: ({ state: { data } }) =>
          polling(
            refetchIntervalMs(
              data?.recipients.map(({ status }) => ({ status, since: data.created_at })) ?? [],
            ) ?? false,
          ),
      },
    ),
  );
  return (
    <Fetched by={email} loading={<EmailLoading />}>
      {(data) => (
        <ExactTimes value={isExact}>
          <Heading teamId={teamId} email={data} isExact={isExact} onExactChange={setExact} />
          <div className="grid gap-x-8 gap-y-6 lg:grid-cols-[minmax(0,1fr)_24rem]">
            <div className="flex min-w-0 flex-col gap-6">
              {/* Before the preview: why an email did not arrive is the question that most visitors have. */}
              <Recipients recipients={data.recipients} events={data.events} delays={data.delays} />
              <MessageTabs teamId={teamId} email={data} />
              <Facts email={data} />
            </div>
            <div className="flex min-w-0 flex-col gap-6">
              <Timeline events={data.events} isShared={data.recipients.length > 1} />
              <WebhookDeliveries teamId={teamId} emailId={data.id} eventCount={data.events.length} />
            </div>
          </div>
        </ExactTimes>
      )}
    </Fetched>
  );
}

/** The status of the worst recipient, with the number of recipients that have it. */
function EmailStatus({ email: { status, recipients } }: { email: EmailView }) {
  const count = recipients.filter((recipient) => recipient.status === status).length;
  return (
    <>
      <StatusBadge status={status} />
      {count > 0 && count < recipients.length ? (
        <span className="text-soft text-xs">
          {formatNumber(count)} of {formatNumber(recipients.length)} recipients
        </span>
      ) : null}
    </>
  );
}

type HeadingProps = {
  teamId: string;
  email: EmailView;
  isExact: boolean;
  onExactChange: (isExact: boolean) => void;
};

/** The subject, status, sender and time of an email, with its actions and the form of all times. */
const Heading = ({ teamId, email, isExact, onExactChange }: HeadingProps) => (
  <PageHeading
    back={{ href: "/console/emails", label: "Emails" }}
    title={
      email.subject ? (
        <AddressText>{email.subject}</AddressText>
      ) : (
        <span className="text-soft">No subject</span>
      )
    }
    badge={<EmailStatus email={email} />}
    description={
      <span className="flex flex-wrap items-center gap-x-2 gap-y-0.5">
        <span className="min-w-0">
          <AddressText>{email.from}</AddressText>
        </span>
        <span aria-hidden="true">·</span>
        <When at={email.created_at} />
        {email.scheduled_at && email.status === "scheduled" ? (
          <>
            <span aria-hidden="true">·</span>
            <span className="text-ink">
              will be sent <Moment at={email.scheduled_at} />
              {isExact ? null : (
                <>
                  {" "}
                  (<When isDue at={email.scheduled_at} />)
                </>
              )}
            </span>
          </>
        ) : null}
        <button
          type="button"
          onClick={() => onExactChange(!isExact)}
          className="rounded text-accent text-xs underline underline-offset-4"
        >
          {isExact ? "Relative times" : "Exact times"}
        </button>
        <span className="inline-flex min-w-0 items-center gap-0.5">
          <code className="truncate font-mono text-xs">{email.id}</code>
          <CopyButton text={email.id} label="Copy id" />
        </span>
      </span>
    }
    actions={<EmailActions teamId={teamId} email={email} />}
  />
);
