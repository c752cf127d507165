"use client";

import { useQuery } from "@tanstack/react-query";
import { faultOf } from "../../_ui/fault";
import { SkeletonCard } from "../../_ui/list/skeleton";
import { PageHeading } from "../../_ui/page/page-heading";
import { cardStyle } from "../../_ui/styles";
import { FaultNote } from "../../_ui/text/notes";
import { useTRPC } from "../../_ui/trpc";
import { KeyStateBadge } from "../columns";
import { KeyActions } from "./actions";
import { KeyFacts } from "./facts";
import { Gauges } from "./gauges";
import { KeyDomains } from "./key-domains";
import { Permissions } from "./permissions";
import { RejectedRequests } from "./rejected-requests";

const refetchMs = 15_000;
const back = { href: "/console/keys", label: "API keys" };

/** One key. Its last use and its state refresh automatically. */
export function KeyPage({ teamId, id, publicUrl }: { teamId: string; id: string; publicUrl: string }) {
  const trpc = useTRPC();
  const { data, error, refetch } = useQuery(
    trpc.keys.get.queryOptions({ team: teamId, id }, { refetchInterval: refetchMs }),
  );
  if (!data)
    return (
      <>
        <PageHeading title="API key" back={back} />
        {error ? (
          <div className={cardStyle}>
            <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} />
          </div>
        ) : (
          <SkeletonCard lines={5} />
        )}
      </>
    );
  return (
    <>
      <PageHeading
        title={data.name}
        badge={<KeyStateBadge of={data} />}
        back={back}
        actions={<KeyActions teamId={teamId} keyView={data} publicUrl={publicUrl} />}
      />
      <div className="flex flex-col gap-6">
        <KeyFacts keyView={data} />
        {data.state === "active" ? <Gauges teamId={teamId} id={id} /> : null}
        <div className="grid items-start gap-6 lg:grid-cols-2">
          <Permissions scopes={data.scopes} />
          <KeyDomains teamId={teamId} keyView={data} />
        </div>
        <RejectedRequests teamId={teamId} id={id} counts={data.recent_refusals} />
      </div>
    </>
  );
}
