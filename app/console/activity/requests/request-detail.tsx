"use client";

import { useQuery } from "@tanstack/react-query";
import type { CallView } from "#server/trpc/activity/activity";
import { Dialog } from "../../_ui/dialog/dialog";
import { SkeletonCard } from "../../_ui/list/skeleton";
import { Fetched } from "../../_ui/page/fetched";
import { TextLink } from "../../_ui/page/page-link";
import { CodeBlock } from "../../_ui/text/code-block";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { ResponseStatus } from "./request-columns";

type Props = { teamId: string; row: CallView; onClose: () => void };

/** One API request with the stored request and response bodies. */
export function RequestDetail({ teamId, row, onClose }: Props) {
  const trpc = useTRPC();
  const request = useQuery(
    trpc.activity.request.queryOptions({ team: teamId, id: row.id }, { staleTime: Number.POSITIVE_INFINITY }),
  );
  return (
    <Dialog onOpenChange={onClose} title={`${row.method} ${row.path}`} size="wide">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 text-soft">
        <ResponseStatus status={row.response_status} />
        <When at={row.created_at} />
        {row.apiKeyName ? <TextLink to={`/console/keys/${row.api_key_id}`}>{row.apiKeyName}</TextLink> : null}
        {row.user_agent ? <span className="min-w-0 break-words">{row.user_agent}</span> : null}
      </div>
      <Fetched by={request} isBare loading={<SkeletonCard lines={6} />}>
        {(data) => (
          <>
            {data.rejection?.detail ? <p>{data.rejection.detail}</p> : null}
            <Body label="Request" body={data.request_body} none="no body" />
            <Body label="Response" body={data.response_body} none="not stored" />
            <p className="text-soft text-xs leading-5">
              Secrets and email content are removed before a request is stored. The request is deleted after
              seven days.
            </p>
          </>
        )}
      </Fetched>
    </Dialog>
  );
}

function Body({ label, body, none }: { label: string; body: unknown; none: string }) {
  if (body !== null) return <CodeBlock label={label} text={JSON.stringify(body, null, 2)} language="JSON" />;
  return (
    <p className="text-soft">
      {label}: {none}
    </p>
  );
}
