"use client";

import { useQuery } from "@tanstack/react-query";
import { Users } from "lucide-react";
import type { TeamRow } from "#server/trpc/installation/installation";
import { type Column, MENU_COLUMN } from "../../_ui/list/data-table";
import { SearchField } from "../../_ui/list/filter-bar";
import { ListPage, listOptions, useListState } from "../../_ui/list/list-page";
import { Badge } from "../../_ui/text/badge";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { teamFilters } from "./filters";
import { TeamMenu } from "./team-menu";

const refetchMs = 15_000;
/** The count of a queue ends here. */
const waitingMax = 1_000;

/** All teams with the size of their queues. */
export function TeamList() {
  const trpc = useTRPC();
  const state = useListState(teamFilters);
  const list = useQuery(trpc.installation.teams.queryOptions(state.input, listOptions(refetchMs)));
  return (
    <ListPage
      label="Teams"
      columns={COLUMNS}
      list={list}
      state={state}
      filterBar={<SearchField label="Search by name" placeholder="Name contains…" of={state} name="search" />}
      noMatch={{ title: "No results", text: "The search matches a part of the name." }}
      empty={{
        icon: Users,
        title: "No teams",
        text: (
          <>
            Create one: <code>backstamp team create NAME</code>
          </>
        ),
      }}
    />
  );
}

const number = (value: number) => value.toLocaleString("en");

const COLUMNS: readonly Column<TeamRow>[] = [
  {
    id: "name",
    header: "Team",
    cell: ({ name }) => (
      <span className="block truncate" title={name}>
        {name}
      </span>
    ),
  },
  { id: "members", header: "Members", width: "w-24", align: "right", cell: ({ members }) => number(members) },
  {
    id: "domains",
    isWide: true,
    header: "Own domains",
    width: "w-28",
    align: "right",
    cell: ({ domains }) => number(domains),
  },
  {
    id: "cap",
    header: "Daily cap",
    width: "w-36",
    align: "right",
    cell: ({ dailyCap, handedOverToday }) =>
      dailyCap === null ? (
        <span className="text-soft">None</span>
      ) : (
        `${number(handedOverToday)} of ${number(dailyCap)}`
      ),
  },
  {
    id: "waiting",
    header: "In queue",
    width: "w-24",
    align: "right",
    cell: ({ waiting }) => (waiting >= waitingMax ? `${number(waitingMax)}+` : number(waiting)),
  },
  {
    id: "oldest",
    isWide: true,
    header: "Earliest due",
    width: "w-36",
    cell: ({ oldestDueAt }) =>
      oldestDueAt ? <When at={oldestDueAt} /> : <span className="text-soft">None</span>,
  },
  {
    id: "state",
    header: "Sending",
    width: "w-28",
    phone: "corner",
    cell: ({ pauseReason, deletesAt }) =>
      deletesAt !== null ? (
        <Badge tone="bad" title={`The team will be deleted at ${deletesAt}.`}>
          Stopped
        </Badge>
      ) : pauseReason === null ? (
        <Badge tone="good">Active</Badge>
      ) : (
        <Badge tone="warn" title={pauseReason}>
          Paused
        </Badge>
      ),
  },
  { ...MENU_COLUMN, cell: (team) => <TeamMenu team={team} /> },
];
