"use client";

import { useQuery } from "@tanstack/react-query";
import { Plus, Webhook } from "lucide-react";
import { Suspense, useState } from "react";
import { ActButton } from "../_ui/act-button";
import { DataTable } from "../_ui/data-table";
import { Empty } from "../_ui/empty";
import { Fetched } from "../_ui/fetched";
import { lazyPart } from "../_ui/lazy-part";
import { useWhyNot } from "../_ui/no-right";
import { buttonStyle } from "../_ui/styles";
import { useTRPC } from "../_ui/trpc";
import { useNew } from "../_ui/use-new";
import { ENDPOINT_COLUMNS } from "./columns";
import { WebhooksHeading } from "./heading";
import { HeldUnknown } from "./held-unknown";

/** While something waits or fails the list is looked at often; a hidden tab asks for nothing. */
const askAgainMs = { moving: 3_000, still: 15_000 };

const load = () => import("./add-endpoint");
const AddEndpoint = lazyPart(async () => (await load()).AddEndpoint);

/** The endpoints of the team, how each fares, and the way to add one. */
export function EndpointList({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const [isAdding, setAdding] = useNew("webhooks:write");
  const [wasAdding, setWasAdding] = useState(false);
  const whyNot = useWhyNot()("webhooks:write", "change webhooks");
  const { data, error, refetch } = useQuery(
    trpc.webhooks.list.queryOptions(
      { team: teamId },
      {
        refetchInterval: ({ state }) =>
          state.data?.some(({ waiting, underWay }) => waiting + underWay > 0)
            ? askAgainMs.moving
            : askAgainMs.still,
      },
    ),
  );
  const button = (
    <ActButton
      whyNot={whyNot}
      onPointerEnter={() => void load().catch(() => {})}
      onClick={() => {
        setWasAdding(true);
        setAdding(true);
      }}
      className={`${buttonStyle.primary} h-10`}
    >
      <Plus className="size-4" aria-hidden="true" /> Add webhook
    </ActButton>
  );
  return (
    <>
      <WebhooksHeading actions={button} />
      <Fetched by={{ data, error, refetch }}>
        <DataTable
          label="Webhooks"
          columns={ENDPOINT_COLUMNS}
          rows={data ?? NONE}
          rowHref={hrefOf}
          isLoading={!data}
          empty={
            <Empty icon={Webhook} title="No webhook yet" action={button}>
              <p>
                Add the address of your program. It is told at once of deliveries, bounces and complaints,
                each call is signed, and what it misses is sent again.
              </p>
            </Empty>
          }
        />
      </Fetched>
      <HeldUnknown teamId={teamId} hasEndpoints={(data?.length ?? 0) > 0} />
      {wasAdding || isAdding ? (
        <Suspense>
          <AddEndpoint teamId={teamId} open={isAdding} onOpenChange={setAdding} />
        </Suspense>
      ) : null}
    </>
  );
}

const NONE: never[] = [];
const hrefOf = ({ id }: { id: string }) => `/console/webhooks/${id}`;
