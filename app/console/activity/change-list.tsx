"use client";

import { useQuery } from "@tanstack/react-query";
import { History } from "lucide-react";
import { Suspense, useState } from "react";
import type { KnownActor } from "#server/services/audit/read";
import type { AuditEntryView } from "#server/trpc/activity/activity";
import type { Column } from "../_ui/list/data-table";
import { SelectFilter } from "../_ui/list/filter-bar";
import { ListPage, listOptions, useListState } from "../_ui/list/list-page";
import { lazyPart } from "../_ui/page/lazy-part";
import { NoPermission } from "../_ui/page/permission";
import { useCan } from "../_ui/team";
import { When } from "../_ui/text/when";
import { useTRPC } from "../_ui/trpc";
import { Actor, SubjectLink } from "./change-fields";
import { FileLink } from "./file-link";
import { changeFilters, NOUN_OPTIONS, WITHIN_OPTIONS } from "./filters";

const ChangeDetail = lazyPart(async () => (await import("./change-detail")).ChangeDetail);

const CHANGE_COLUMNS: readonly Column<AuditEntryView>[] = [
  { header: "Action", width: "w-60 xl:w-72", isWhole: true, cell: ({ words }) => words },
  {
    header: "Target",
    phone: "plain",
    isActive: true,
    cell: (change) => <SubjectLink change={change} />,
  },
  {
    header: "Actor",
    width: "w-44 xl:w-52",
    phone: "plain",
    isWhole: true,
    cell: (change) => <Actor change={change} />,
  },
  {
    header: "Time",
    width: "w-28",
    align: "right",
    phone: "corner",
    cell: ({ createdAt }) => <When at={createdAt} className="text-soft text-xs" />,
  },
];

/** The list refetches automatically. Hidden tabs do not refetch. */
const refetchMs = 15_000;

/** The log of changes with its filters and pages. */
export function ChangeList({ teamId }: { teamId: string }) {
  return useCan()("audit:read") ? <Changes teamId={teamId} /> : <NoPermission what="view changes" />;
}

function Changes({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const state = useListState(changeFilters);
  const [open, setOpen] = useState<AuditEntryView | null>(null);
  const list = useQuery(
    trpc.activity.changes.queryOptions({ team: teamId, ...state.input }, listOptions(refetchMs)),
  );
  const { data: actors = [] } = useQuery(trpc.activity.actors.queryOptions({ team: teamId }));
  return (
    <>
      <ListPage
        label="Changes"
        columns={CHANGE_COLUMNS}
        list={list}
        state={state}
        onOpen={setOpen}
        filterBar={
          <>
            <SelectFilter
              label="Actor"
              of={state}
              name="actor"
              options={[...actors.map(optionOf), ...PROGRAM_OPTIONS]}
              className="md:w-56"
            />
            <SelectFilter label="Type" of={state} name="action" options={NOUN_OPTIONS} />
            <SelectFilter label="Time" of={state} name="within" options={WITHIN_OPTIONS} />
            <FileLink path="/console/activity/changes-file" query={{ team: teamId, ...state.applied }} />
          </>
        }
        noMatch={{ title: "No matching changes", text: "No change matches these filters." }}
        empty={{
          icon: History,
          title: "No changes yet",
          text: "Changes to keys, domains, members and other settings appear here, as do email retries. The log covers the console, the API and the command line.",
        }}
      />
      <Suspense>{open ? <ChangeDetail change={open} onClose={() => setOpen(null)} /> : null}</Suspense>
    </>
  );
}

const PROGRAM_OPTIONS = [
  { value: "operator", label: "CLI" },
  { value: "system", label: "Backstamp" },
];

const optionOf = ({ id, actor, name }: KnownActor) => ({
  value: id,
  label: actor === "key" ? `API key ${name ?? id}` : (name ?? id),
});
