"use client";

import { useQuery } from "@tanstack/react-query";
import { Users } from "lucide-react";
import type { TeamRow } from "#server/trpc/installation/installation";
import { type Column, MENU_COLUMN, OneLine, timeColumn } from "../../_ui/list/data-table";
import { SearchField } from "../../_ui/list/filter-bar";
import { ListPage, listOptions, useListState } from "../../_ui/list/list-page";
import { Badge } from "../../_ui/text/badge";
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
  { header: "Team", cell: ({ name }) => <OneLine>{name}</OneLine> },
  { header: "Members", width: "w-24", align: "right", cell: ({ members }) => number(members) },
  {
    isWide: true,
    header: "Own domains",
    width: "w-28",
    align: "right",
    cell: ({ domains }) => number(domains),
  },
  {
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
    header: "In queue",
    width: "w-24",
    align: "right",
    cell: ({ waiting }) => (waiting >= waitingMax ? `${number(waitingMax)}+` : number(waiting)),
  },
  timeColumn("Earliest due", ({ oldestDueAt }) => oldestDueAt, { isWide: true }),
  {
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
