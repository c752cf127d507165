"use client";

import { useQuery } from "@tanstack/react-query";
import { Globe, LoaderCircle, Radar, SearchX, Trash2, TriangleAlert } from "lucide-react";
import { useMemo, useState } from "react";
import type { DomainRow } from "#server/trpc/domains/views";
import { Menu } from "../_ui/dialog/menu";
import { useCreation } from "../_ui/list/create-button";
import { type Column, MENU_COLUMN } from "../_ui/list/data-table";
import { Empty } from "../_ui/list/empty";
import { SearchField } from "../_ui/list/filter-bar";
import { ListPage, listOptions, useListState } from "../_ui/list/list-page";
import { lazyDialog } from "../_ui/page/lazy-part";
import { PageHeading } from "../_ui/page/page-heading";
import { useDisabledReason } from "../_ui/page/permission";
import { LabelBadge } from "../_ui/text/badge";
import { When } from "../_ui/text/when";
import { useTRPC } from "../_ui/trpc";
import { useAction } from "../_ui/use-action";
import { domainFilters } from "./filters";
import { HEALTH, refetchMs } from "./labels";
import { HEADING } from "./loading";

const AddDomain = lazyDialog(async () => (await import("./add-domain")).AddDomain);

const isAwaitingDns = ({ health }: DomainRow) => health === "waiting" || health === "faulty";

/** The list of domains. Refetches while a domain awaits DNS. */
export function DomainList({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const state = useListState(domainFilters);
  const list = useQuery({
    ...trpc.domains.list.queryOptions({ team: teamId, ...state.input }, listOptions()),
    refetchInterval: ({ state: { data } }) => (data?.rows.some(isAwaitingDns) ? refetchMs * 2 : false),
  });
  const columns = useMemo(() => domainColumns(teamId), [teamId]);
  const { button, form } = useCreation(
    AddDomain,
    { teamId },
    { label: "Add domain", permission: "domains:write", what: "add domains" },
  );
  // Only for the complete list: a search or a later page can contain the built-in domain alone for other
  // reasons.
  const rows = Object.keys(state.input).length === 0 ? (list.data?.rows ?? []) : [];
  const hasOnlyBuiltIn = rows.length > 0 && rows.every(({ health }) => health === "built_in");

  return (
    <>
      <PageHeading {...HEADING} actions={button} />
      <ListPage
        label="Domains"
        columns={columns}
        list={list}
        state={state}
        rowHref={({ id }) => `/console/domains/${id}`}
        filterBar={<SearchField label="Search by name" of={state} name="name" />}
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
          action: button,
        }}
      />
      {hasOnlyBuiltIn ? (
        <div className="mt-4">
          <Empty icon={Globe} title="No domain of your own yet" action={button}>
            <p>
              The built-in domain is for testing only. Add the domain that you send email from. Its page lists
              the records to publish and shows when they are verified.
            </p>
          </Empty>
        </div>
      ) : null}
      {form}
    </>
  );
}

const RemoveDomain = lazyDialog(async () => (await import("./remove-domain")).RemoveDomain);

/** The columns of the list of domains. */
const domainColumns = (teamId: string): readonly Column<DomainRow>[] => [
  {
    header: "Name",
    cell: ({ name, unicode, warning }) => (
      <>
        {warning ? (
          <span title={warning}>
            <TriangleAlert
              className="mr-1.5 inline size-4 text-warn"
              role="img"
              aria-label="Can be confused with another name:"
            />
          </span>
        ) : null}
        {unicode ?? name}
        {unicode ? <span className="ml-2 font-mono font-normal text-soft text-xs">{name}</span> : null}
      </>
    ),
  },
  {
    header: "Status",
    width: "w-40",
    phone: "corner",
    cell: ({ health }) => <LabelBadge {...HEALTH[health]} />,
  },
  {
    header: "Daily cap",
    cell: ({ today: { allowed, handed_over }, warm_up }) =>
      allowed === null ? (
        <span className="text-soft">No cap</span>
      ) : (
        <span title={warm_up ? "Warming up: the cap grows each day" : "Recipients today, of the daily cap"}>
          {handed_over.toLocaleString("en")} of {allowed.toLocaleString("en")}
          {warm_up ? <span className="text-soft"> · warming up</span> : null}
        </span>
      ),
  },
  {
    isWide: true,
    header: "Last checked",
    width: "w-32",
    cell: ({ last_checked_at, health }) =>
      last_checked_at ? (
        <When at={last_checked_at} className="text-soft" />
      ) : (
        <span className="text-soft">{health === "built_in" ? "Not required" : "Not checked"}</span>
      ),
  },
  {
    ...MENU_COLUMN,
    width: "w-14",
    cell: (row) => <DomainRowMenu teamId={teamId} row={row} />,
  },
];

/** The actions of a domain in the list. The built-in domain has none. */
function DomainRowMenu({ teamId, row }: { teamId: string; row: DomainRow }) {
  const trpc = useTRPC();
  const why = useDisabledReason()("domains:write", "change domains");
  const [isRemoving, setRemoving] = useState(false);
  const { id, name, health } = row;
  const verify = useAction(trpc.domains.verify.mutationOptions(), {
    refresh: [trpc.domains.list.queryKey()],
    done: ({ status }) =>
      status === "verified" ? `${name} is verified` : `${name} is not verified yet. Its page shows why.`,
  });
  // As wide as a menu, so that the badges of all rows are aligned.
  if (health === "built_in") return <span aria-hidden="true" className="inline-block size-8" />;
  if (verify.isBusy)
    return (
      <span role="status" className="inline-grid size-8 place-items-center">
        <LoaderCircle className="size-4 motion-safe:animate-spin" />
        <span className="sr-only">Checking the records of {name}</span>
      </span>
    );
  return (
    <>
      <Menu
        label={`Actions for ${name}`}
        items={[
          {
            label: row.last_checked_at ? "Check again" : "Verify records",
            Icon: Radar,
            why,
            onSelect: () => verify.run({ team: teamId, id }),
          },
          "line",
          { label: "Remove domain…", Icon: Trash2, tone: "bad", why, onSelect: () => setRemoving(true) },
        ]}
      />
      {isRemoving ? <RemoveDomain teamId={teamId} domain={row} onClose={() => setRemoving(false)} /> : null}
    </>
  );
}
