"use client";

import { useQuery } from "@tanstack/react-query";
import { ShieldCheck } from "lucide-react";
import type { KeyView, RefusalView } from "#server/trpc/key-views";
import { Badge } from "../../_ui/badge";
import { Empty } from "../../_ui/empty";
import { faultOf } from "../../_ui/fault";
import { FaultNote } from "../../_ui/notes";
import { Section } from "../../_ui/section";
import { SkeletonTable } from "../../_ui/skeleton";
import { useMay } from "../../_ui/team";
import { useTRPC } from "../../_ui/trpc";
import { When } from "../../_ui/when";

const askAgainMs = 5_000;

type Props = { teamId: string; id: string; counts: KeyView["refusals"] };

/** Calls of a key that were refused, why, and what would help. */
export function Refusals({ teamId, id, counts }: Props) {
  const trpc = useTRPC();
  const mayRead = useMay()("logs:read");
  const { data, error, refetch } = useQuery(
    trpc.keys.refusals.queryOptions({ team: teamId, id }, { refetchInterval: askAgainMs, enabled: mayRead }),
  );
  const content = () => {
    if (!mayRead) {
      const { unauthorized, forbidden, rateLimited } = counts;
      return (
        <p className="px-5 pb-5 text-soft leading-6">
          In the last 24 hours {unauthorized + forbidden + rateLimited} calls were refused. Which ones stands
          in the record of calls, which members of the team may read.
        </p>
      );
    }
    if (!data && error) return <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} />;
    if (!data) return <SkeletonTable rows={3} />;
    if (data.length === 0)
      return (
        <Empty icon={ShieldCheck} title="No call was refused" isBare>
          <p>Had one been, its reason would stand here for seven days.</p>
        </Empty>
      );
    return (
      <ul aria-label="Refused calls" className="divide-y divide-line border-line border-t">
        {data.map((group) => (
          <Refusal
            key={`${group.reason} ${group.method} ${group.path} ${group.domain ?? ""}`}
            group={group}
          />
        ))}
      </ul>
    );
  };
  return (
    <Section title="Recent refusals" note="Of the last seven days, alike ones together.">
      {content()}
    </Section>
  );
}

function Refusal({ group }: { group: RefusalView }) {
  const { status, method, path, count, lastAt } = group;
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 gap-y-1 px-5 py-3 md:grid-cols-[3.5rem_minmax(0,1fr)_5rem_5.5rem]">
      <span className="max-md:row-start-1 max-md:justify-self-start">
        <Badge tone={status === 429 ? "warn" : "bad"}>{status}</Badge>
      </span>
      <div className="min-w-0 max-md:col-span-2">
        <p className="break-words">{sayReason(group)}</p>
        <p className="wrap-anywhere font-mono text-soft text-xs leading-5">
          {method} {path}
        </p>
      </div>
      <span className="text-right tabular-nums max-md:row-start-1 max-md:col-start-2">
        {count} {count === 1 ? "call" : "calls"}
      </span>
      <When at={lastAt} className="text-right text-soft text-xs max-md:col-span-2 max-md:text-left" />
    </li>
  );
}

const REASONS: Record<Exclude<RefusalView["reason"], "domain">, string> = {
  ended: "The key had expired or was revoked",
  scope: "The key lacks the permission for this call",
  grant: "It asked for more than this key may hand on",
  limit: "Over its limit of calls a minute",
};

const sayReason = ({ reason, domain }: RefusalView): string =>
  reason === "domain" ? `The key may not send from ${domain ?? "that domain"}` : REASONS[reason];
