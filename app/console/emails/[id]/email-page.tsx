"use client";

import { useQuery } from "@tanstack/react-query";
import { faultOf } from "../../_ui/fault";
import { FaultNote } from "../../_ui/text/notes";
import { refetchIntervalMs } from "../../_ui/text/statuses";
import { useTRPC } from "../../_ui/trpc";
import { Facts } from "./facts";
import { Heading } from "./heading";
import EmailLoading from "./loading";
import { MessageTabs } from "./message-tabs";
import { Recipients } from "./recipients";
import { Timeline } from "./timeline";
import { WebhookDeliveries } from "./webhook-deliveries";

/** One email. It refetches while a recipient has no final status. */
export function EmailPage({ teamId, id }: { teamId: string; id: string }) {
  const trpc = useTRPC();
  const { data, error, refetch } = useQuery(
    trpc.emails.get.queryOptions(
      { team: teamId, id },
      {
        refetchInterval: ({ state: { data: email } }) =>
          refetchIntervalMs(
            email?.recipients.map(({ status }) => ({ status, since: email.created_at })) ?? [],
          ) ?? false,
      },
    ),
  );
  if (!data)
    return error ? <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} /> : <EmailLoading />;
  return (
    <>
      <Heading teamId={teamId} email={data} />
      <div className="grid gap-x-8 gap-y-6 lg:grid-cols-[minmax(0,1fr)_24rem]">
        <div className="flex min-w-0 flex-col gap-6">
          <MessageTabs teamId={teamId} email={data} />
          <Facts email={data} />
        </div>
        <div className="flex min-w-0 flex-col gap-6">
          <Recipients recipients={data.recipients} delays={data.delays} />
          <Timeline events={data.events} isShared={data.recipients.length > 1} />
          <WebhookDeliveries teamId={teamId} emailId={data.id} eventCount={data.events.length} />
        </div>
      </div>
    </>
  );
}
