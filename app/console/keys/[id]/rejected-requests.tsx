"use client";

import { useQuery } from "@tanstack/react-query";
import { ShieldCheck } from "lucide-react";
import type { KeyRejectionReason } from "#server/services/keys/use";
import type { KeyView, RejectionView } from "#server/trpc/keys/keys";
import { formatCount } from "../../_ui/format-number";
import { Empty } from "../../_ui/list/empty";
import { SkeletonTable } from "../../_ui/list/skeleton";
import { Section } from "../../_ui/page/card";
import { Fetched } from "../../_ui/page/fetched";
import { useCan } from "../../_ui/team";
import { Badge } from "../../_ui/text/badge";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";

const refetchMs = 5_000;

type Props = { teamId: string; id: string; counts: KeyView["recent_refusals"] };

/** The rejected requests of a key, grouped, with the reason of each group. */
export function RejectedRequests({ teamId, id, counts }: Props) {
  const trpc = useTRPC();
  const canRead = useCan()("logs:read");
  const rejections = useQuery(
    trpc.keys.rejections.queryOptions({ team: teamId, id }, { refetchInterval: refetchMs, enabled: canRead }),
  );
  const { unauthorized, forbidden, rate_limited } = counts;
  return (
    <Section title="Rejected requests" note="Last seven days, grouped by reason and path.">
      {canRead ? (
        <Fetched by={rejections} isBare loading={<SkeletonTable rows={3} />}>
          {(groups) => <RejectionList groups={groups} />}
        </Fetched>
      ) : (
        <p className="px-5 pb-5 text-soft leading-6">
          Requests rejected in the last 24 hours: {unauthorized + forbidden + rate_limited}. Your role cannot
          read the API request log, which lists them.
        </p>
      )}
    </Section>
  );
}

function RejectionList({ groups }: { groups: readonly RejectionView[] }) {
  if (groups.length === 0)
    return (
      <Empty icon={ShieldCheck} title="No rejected requests" isBare>
        <p>Rejected requests are shown here for seven days, with the reason.</p>
      </Empty>
    );
  return (
    <ul aria-label="Rejected requests" className="divide-y divide-line border-line border-t">
      {groups.map(({ status, reason, detail, method, path, count, lastAt }) => (
        <li
          key={`${reason} ${method} ${path} ${detail ?? ""}`}
          className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 gap-y-1 px-5 py-3 md:grid-cols-[3.5rem_minmax(0,1fr)_5rem_5.5rem]"
        >
          <span className="max-md:row-start-1 max-md:justify-self-start">
            <Badge tone={status === 429 ? "warn" : "bad"}>{status}</Badge>
          </span>
          <div className="min-w-0 max-md:col-span-2">
            <p className="break-words">{detail ?? REASONS[reason]}</p>
            <p className="wrap-anywhere font-mono text-soft text-xs leading-5">
              {method} {path}
            </p>
          </div>
          <span className="text-right tabular-nums max-md:row-start-1 max-md:col-start-2">
            {formatCount(count, "request")}
          </span>
          <When at={lastAt} className="text-right text-soft text-xs max-md:col-span-2 max-md:text-left" />
        </li>
      ))}
    </ul>
  );
}

const REASONS: Record<KeyRejectionReason, string> = {
  ended: "The key had expired or was revoked.",
  limit: "The rate limit was exceeded.",
  missing_scope: "The key lacks a permission.",
  domain_not_linked: "The key is not linked to the domain.",
  exceeds_calling_key: "The request asked for more than this key can grant.",
  client_address_not_allowed: "The client address is not in the networks of the key.",
};
