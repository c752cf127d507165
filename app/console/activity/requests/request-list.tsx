"use client";

import { useQuery } from "@tanstack/react-query";
import { Activity } from "lucide-react";
import { Suspense, useState } from "react";
import type { CallView } from "#server/trpc/activity/activity";
import { RemovableFilter, SelectFilter } from "../../_ui/list/filter-bar";
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
              of={state}
              name="key"
              options={keys.map(({ id, name }) => ({ value: id, label: name }))}
              className="md:w-56"
            />
            <RemovableFilter label="Email" of={state} name="email" />
            <SelectFilter
              label="Status"
              of={state}
              name="status"
              options={STATUS_OPTIONS}
              className="md:w-60"
            />
            <SelectFilter
              label="Method"
              of={state}
              name="method"
              options={METHOD_OPTIONS}
              className="md:w-36"
            />
            <FileLink path="/console/activity/requests-file" query={{ team: teamId, ...state.applied }} />
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
