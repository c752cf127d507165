"use client";

import { useQuery } from "@tanstack/react-query";
import { Plus, Webhook } from "lucide-react";
import { Suspense, useState } from "react";
import { ActionButton } from "../_ui/form/action-button";
import { DataTable } from "../_ui/list/data-table";
import { Empty } from "../_ui/list/empty";
import { Fetched } from "../_ui/page/fetched";
import { lazyPart } from "../_ui/page/lazy-part";
import { useDisabledReason } from "../_ui/page/permission";
import { buttonStyle } from "../_ui/styles";
import { useTRPC } from "../_ui/trpc";
import { useNew } from "../_ui/use-new";
import { ENDPOINT_COLUMNS } from "./columns";
import { WebhooksHeading } from "./heading";
import { UnknownOutcomes } from "./unknown-outcomes";

/** Refetches often while event deliveries are pending. A hidden tab does not refetch. */
const refetchMs = { active: 3_000, idle: 15_000 };

const load = () => import("./add-endpoint");
const AddEndpoint = lazyPart(async () => (await load()).AddEndpoint);

/** The endpoints of the team. */
export function EndpointList({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const [isAdding, setAdding] = useNew("webhooks:write");
  const [wasAdding, setWasAdding] = useState(false);
  const disabledReason = useDisabledReason()("webhooks:write", "change webhooks");
  const { data, error, refetch } = useQuery(
    trpc.webhooks.list.queryOptions(
      { team: teamId },
      {
        refetchInterval: ({ state }) =>
          state.data?.some(({ waiting, inProgress }) => waiting + inProgress > 0)
            ? refetchMs.active
            : refetchMs.idle,
      },
    ),
  );
  const button = (
    <ActionButton
      disabledReason={disabledReason}
      onPointerEnter={() => void load().catch(() => {})}
      onClick={() => {
        setWasAdding(true);
        setAdding(true);
      }}
      className={`${buttonStyle.primary} h-10`}
    >
      <Plus className="size-4" aria-hidden="true" /> Add webhook
    </ActionButton>
  );
  return (
    <>
      <WebhooksHeading actions={button} />
      <Fetched by={{ data, error, refetch }}>
        <DataTable
          label="Webhooks"
          columns={ENDPOINT_COLUMNS}
          rows={data ?? NO_ROWS}
          rowHref={hrefOf}
          isLoading={!data}
          empty={
            <Empty icon={Webhook} title="No webhooks yet" action={button}>
              <p>
                Add the URL of your program. It receives signed events about deliveries, bounces and
                complaints. Failed attempts are retried.
              </p>
            </Empty>
          }
        />
      </Fetched>
      <UnknownOutcomes teamId={teamId} hasEndpoints={(data?.length ?? 0) > 0} />
      {wasAdding || isAdding ? (
        <Suspense>
          <AddEndpoint teamId={teamId} open={isAdding} onOpenChange={setAdding} />
        </Suspense>
      ) : null}
    </>
  );
}

const NO_ROWS: never[] = [];
const hrefOf = ({ id }: { id: string }) => `/console/webhooks/${id}`;
