"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import type { CallRow } from "#server/trpc/activity/views";
import { Dialog } from "../../_ui/dialog/dialog";
import { faultOf } from "../../_ui/fault";
import { SkeletonCard } from "../../_ui/list/skeleton";
import { linkStyle } from "../../_ui/styles";
import { useConsoleHref } from "../../_ui/team";
import { CodeBlock } from "../../_ui/text/code-block";
import { FaultNote } from "../../_ui/text/notes";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { ResponseStatus } from "./request-columns";

type Props = { teamId: string; row: CallRow; onClose: () => void };

/** One API request with the stored request and response bodies. */
export function RequestDetail({ teamId, row, onClose }: Props) {
  const trpc = useTRPC();
  const hrefOf = useConsoleHref();
  const { data, error, refetch } = useQuery(
    trpc.activity.request.queryOptions({ team: teamId, id: row.id }, { staleTime: Number.POSITIVE_INFINITY }),
  );
  return (
    <Dialog open onOpenChange={onClose} title={`${row.method} ${row.path}`} size="wide">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 text-soft">
        <ResponseStatus status={row.status} />
        <When at={row.createdAt} />
        {row.keyName ? (
          <Link href={hrefOf(`/console/keys/${row.keyId}`)} className={linkStyle}>
            {row.keyName}
          </Link>
        ) : null}
        {row.userAgent ? <span className="min-w-0 break-words">{row.userAgent}</span> : null}
      </div>
      {error && !data ? <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} /> : null}
      {!data && !error ? <SkeletonCard lines={6} /> : null}
      {data ? (
        <>
          {data.rejectionDetail ? <p>{data.rejectionDetail}</p> : null}
          <Body label="Request" text={data.requestBody} none="no body" />
          <Body label="Response" text={data.responseBody} none="not stored" />
          <p className="text-soft text-xs leading-5">
            Secrets and email content are removed before a request is stored. It is deleted after seven days.
          </p>
        </>
      ) : null}
    </Dialog>
  );
}

function Body({ label, text, none }: { label: string; text: string | null; none: string }) {
  if (text !== null) return <CodeBlock label={label} text={text} language="JSON" />;
  return (
    <p className="text-soft">
      {label}: {none}
    </p>
  );
}
