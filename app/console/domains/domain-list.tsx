"use client";

import { useQuery } from "@tanstack/react-query";
import { Globe, SearchX } from "lucide-react";
import { useMemo } from "react";
import type { DomainRow } from "#server/trpc/domains/views";
import { CreateButton } from "../_ui/list/create-button";
import { Empty } from "../_ui/list/empty";
import { SearchField } from "../_ui/list/filter-bar";
import { ListPage, listOptions, useListState } from "../_ui/list/list-page";
import { lazyDialog } from "../_ui/page/lazy-part";
import { PageHeading } from "../_ui/page/page-heading";
import { useTRPC } from "../_ui/trpc";
import { useNew } from "../_ui/use-new";
import { domainColumns } from "./columns";
import { domainFilters } from "./filters";
import { HEADING } from "./heading";
import { refetchMs } from "./labels";

const AddDomain = lazyDialog(async () => (await import("./add-domain")).AddDomain);

const isAwaitingDns = ({ health }: DomainRow) => health === "waiting" || health === "faulty";

/** The list of domains. Refetches while a domain awaits DNS. */
export function DomainList({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const state = useListState(domainFilters);
  const [isAdding, setAdding] = useNew("domains:write");
  const list = useQuery({
    ...trpc.domains.list.queryOptions({ team: teamId, ...state.input }, listOptions()),
    refetchInterval: ({ state: { data } }) => (data?.rows.some(isAwaitingDns) ? refetchMs * 2 : false),
  });
  const columns = useMemo(() => domainColumns(teamId), [teamId]);
  const add = (
    <CreateButton
      label="Add domain"
      permission="domains:write"
      what="add domains"
      preload={AddDomain.preload}
      onClick={() => setAdding(true)}
    />
  );
  // Only for the complete list: a search or a later page can contain the built-in domain alone for other
  // reasons.
  const rows = Object.keys(state.input).length === 0 ? (list.data?.rows ?? []) : [];
  const hasOnlyBuiltIn = rows.length > 0 && rows.every(({ health }) => health === "built_in");

  return (
    <>
      <PageHeading {...HEADING} actions={add} />
      <ListPage
        label="Domains"
        columns={columns}
        list={list}
        state={state}
        rowHref={({ id }) => `/console/domains/${id}`}
        filterBar={
          <SearchField
            label="Search by name"
            value={state.filters.name ?? ""}
            onSettle={(name) => state.change({ name: name || null })}
          />
        }
        noMatch={{
          icon: SearchX,
          title: "No results",
          clears: "search",
          text: "No domain name of this team contains this text.",
        }}
        empty={{
          icon: Globe,
          title: "No domains yet",
          text: "Add the domain that you send email from. Its page lists the records to publish and shows when they are verified.",
          action: add,
        }}
      />
      {hasOnlyBuiltIn ? (
        <div className="mt-4">
          <Empty icon={Globe} title="No domain of your own yet" action={add}>
            <p>
              The built-in domain is for testing only. Add the domain that you send email from. Its page lists
              the records to publish and shows when they are verified.
            </p>
          </Empty>
        </div>
      ) : null}
      {isAdding ? <AddDomain teamId={teamId} onClose={() => setAdding(false)} /> : null}
    </>
  );
}
