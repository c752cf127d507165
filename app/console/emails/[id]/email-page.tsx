"use client";

import { useQuery } from "@tanstack/react-query";
import { ArrowLeft } from "lucide-react";
import Link from "next/link";
import type { EmailView } from "#server/trpc/email-views";
import { CopyButton } from "../../_ui/copy-button";
import { faultOf } from "../../_ui/fault";
import { FaultNote } from "../../_ui/notes";
import { StatusBadge } from "../../_ui/status-badge";
import { askAgainAfterMs } from "../../_ui/statuses";
import { useConsoleHref } from "../../_ui/team";
import { useTRPC } from "../../_ui/trpc";
import { When } from "../../_ui/when";
import EmailLoading from "./loading";
import { MessageTabs } from "./message-tabs";
import { Recipients } from "./recipients";
import { Timeline } from "./timeline";

/** The mail as it stands, asked for again while any recipient of it is still on the way. */
export function EmailPage({ teamId, id }: { teamId: string; id: string }) {
  const trpc = useTRPC();
  const hrefOf = useConsoleHref();
  const { data, error, refetch } = useQuery(
    trpc.emails.get.queryOptions(
      { team: teamId, id },
      {
        refetchInterval: ({ state: { data: email } }) =>
          askAgainAfterMs(
            email?.recipients.map(({ status }) => ({ status, since: email.createdAt })) ?? [],
          ) ?? false,
      },
    ),
  );
  if (!data)
    return error ? <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} /> : <EmailLoading />;
  return (
    <>
      <Link
        href={hrefOf("/console/emails")}
        className="mb-4 inline-flex items-center gap-1.5 rounded text-soft hover:text-ink"
      >
        <ArrowLeft className="size-4" aria-hidden="true" /> Emails
      </Link>
      <Heading email={data} />
      <div className="grid gap-x-8 gap-y-6 lg:grid-cols-[minmax(0,1fr)_24rem]">
        <MessageTabs teamId={teamId} email={data} />
        <div className="flex min-w-0 flex-col gap-6">
          <Recipients recipients={data.recipients} />
          <Timeline events={data.events} isShared={data.recipients.length > 1} />
        </div>
      </div>
    </>
  );
}

function Heading({ email }: { email: EmailView }) {
  return (
    <div className="mb-6 flex flex-col gap-2">
      <div className="flex flex-wrap items-start gap-x-3 gap-y-2">
        <h1 className="min-w-0 break-words font-semibold text-xl tracking-tight">
          {email.subject || <span className="text-soft">No subject</span>}
        </h1>
        <span className="mt-0.5">
          <StatusBadge status={email.status} />
        </span>
      </div>
      <div className="flex flex-wrap items-center gap-x-2 gap-y-0.5 text-soft">
        <span className="break-all">{email.sender}</span>
        <span aria-hidden="true">·</span>
        <When at={email.createdAt} />
        {email.keyName ? (
          <>
            <span aria-hidden="true">·</span>
            <span className="truncate">by key {email.keyName}</span>
          </>
        ) : null}
        <span className="inline-flex min-w-0 items-center gap-0.5">
          <code className="truncate font-mono text-xs">{email.id}</code>
          <CopyButton text={email.id} label="Copy the id" />
        </span>
      </div>
    </div>
  );
}
