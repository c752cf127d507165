"use client";

import { useQuery } from "@tanstack/react-query";
import { Activity, X } from "lucide-react";
import { Suspense, useState } from "react";
import type { CallView } from "#server/trpc/activity/activity";
import { Button } from "../../_ui/form/button";
import { SelectFilter, withChosen } from "../../_ui/list/filter-bar";
import { ListPage, listOptions, useListState } from "../../_ui/list/list-page";
import { lazyPart } from "../../_ui/page/lazy-part";
import { NoPermission } from "../../_ui/page/permission";
import { useCan } from "../../_ui/team";
import { useTRPC } from "../../_ui/trpc";
import { FileLink } from "../file-link";
import { METHOD_OPTIONS, requestFilters, STATUS_OPTIONS } from "../filters";
import { REQUEST_COLUMNS } from "./request-columns";

const RequestDetail = lazyPart(async () => (await import("./request-detail")).RequestDetail);

/** A request appears about a second after its response. Hidden tabs do not refetch. */
const refetchMs = 5_000;

/** The log of API requests with its filters and pages. */
export function RequestList({ teamId }: { teamId: string }) {
  return useCan()("logs:read") ? <Requests teamId={teamId} /> : <NoPermission what="view API requests" />;
}

function Requests({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const state = useListState(requestFilters);
  const [open, setOpen] = useState<CallView | null>(null);
  const list = useQuery(
    trpc.activity.requests.queryOptions({ team: teamId, ...state.input }, listOptions(refetchMs)),
  );
  const { data: keys = [] } = useQuery(trpc.activity.keys.queryOptions({ team: teamId }));
  return (
    <>
      <ListPage
        label="API requests"
        columns={REQUEST_COLUMNS}
        list={list}
        state={state}
        onOpen={setOpen}
        filterBar={
          <>
            <SelectFilter
              label="API key"
              anyLabel="Any key"
              className="md:w-56"
              value={state.filters.key}
              options={withChosen(
                keys.map(({ id, name }) => ({ value: id, label: name })),
                state.filters.key,
              )}
              onChange={(key) => state.change({ key })}
            />
            {state.filters.email ? (
              <Button isSmall onClick={() => state.change({ email: null })} className="max-w-full text-xs">
                <span className="truncate">Email: {state.filters.email}</span>
                <X className="size-3.5" aria-hidden="true" />
                <span className="sr-only">Remove this filter</span>
              </Button>
            ) : null}
            <SelectFilter
              label="Status"
              anyLabel="Any status"
              className="md:w-60"
              value={state.filters.status}
              options={STATUS_OPTIONS}
              onChange={(status) => state.change({ status })}
            />
            <SelectFilter
              label="Method"
              anyLabel="Any method"
              className="md:w-36"
              value={state.filters.method}
              options={METHOD_OPTIONS}
              onChange={(method) => state.change({ method })}
            />
            <FileLink path="/console/activity/requests-file" query={{ team: teamId, ...state.input }} />
          </>
        }
        noMatch={{
          title: "No matching requests",
          text: "No request of the last seven days matches these filters.",
        }}
        empty={{
          icon: Activity,
          title: "No requests yet",
          text: "Requests made with the API keys of this team appear here within 2 seconds, including rejected ones. They are stored for 7 days, without secrets or email content.",
        }}
      />
      <Suspense>
        {open ? <RequestDetail teamId={teamId} row={open} onClose={() => setOpen(null)} /> : null}
      </Suspense>
    </>
  );
}
