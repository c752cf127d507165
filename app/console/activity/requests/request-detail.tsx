"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import type { CallRow } from "#server/trpc/activity-views";
import { CodeBlock } from "../../_ui/code-block";
import { Dialog } from "../../_ui/dialog";
import { faultOf } from "../../_ui/fault";
import { FaultNote } from "../../_ui/notes";
import { SkeletonCard } from "../../_ui/skeleton";
import { linkStyle } from "../../_ui/styles";
import { useConsoleHref } from "../../_ui/team";
import { useTRPC } from "../../_ui/trpc";
import { When } from "../../_ui/when";
import { CallStatus } from "./request-columns";

type Props = { teamId: string; row: CallRow; onClose: () => void };

/** One call with what was asked and answered, as far as it is kept. */
export function RequestDetail({ teamId, row, onClose }: Props) {
  const trpc = useTRPC();
  const hrefOf = useConsoleHref();
  const { data, error, refetch } = useQuery(
    trpc.activity.request.queryOptions({ team: teamId, id: row.id }, { staleTime: Number.POSITIVE_INFINITY }),
  );
  return (
    <Dialog open onOpenChange={onClose} title={`${row.method} ${row.path}`} size="wide">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 text-soft">
        <CallStatus status={row.status} />
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
          <Body label="What was asked" text={data.requestBody} none="It had no body." />
          <Body label="What was answered" text={data.responseBody} none="No answer is kept." />
          <p className="text-soft text-xs leading-5">
            Secrets and what mails say were left out when this was written down. It is forgotten after seven
            days.
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
