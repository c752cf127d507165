"use client";

import { useQuery } from "@tanstack/react-query";
import { Ban, Download, FileUp } from "lucide-react";
import { useMemo } from "react";
import { Menu } from "../_ui/dialog/menu";
import { Button } from "../_ui/form/button";
import { CreateButton } from "../_ui/list/create-button";
import { SearchField, SelectFilter } from "../_ui/list/filter-bar";
import { ListPage, listOptions, useListState } from "../_ui/list/list-page";
import { lazyDialog } from "../_ui/page/lazy-part";
import { PageHeading } from "../_ui/page/page-heading";
import { useDisabledReason } from "../_ui/page/permission";
import { useTRPC } from "../_ui/trpc";
import { useNew } from "../_ui/use-new";
import { ORIGIN_LABELS, suppressionColumns } from "./columns";
import { ORIGINS, suppressionFilters } from "./filters";
import { HEADING } from "./heading";

const AddSuppressions = lazyDialog(async () => (await import("./add-suppressions")).AddSuppressions);
const ImportSuppressions = lazyDialog(async () => (await import("./import-suppressions")).ImportSuppressions);

/** Bounces and complaints add addresses at any time. */
const refetchMs = 15_000;
const ORIGIN_OPTIONS = ORIGINS.map((value) => ({ value, label: ORIGIN_LABELS[value].label }));

/** The suppression list of the team, with add, import, export and remove. */
export function SuppressionList({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const state = useListState(suppressionFilters);
  const [isAdding, setAdding] = useNew("suppressions:write");
  const [isImporting, setImporting] = useNew("suppressions:write", "import");
  const why = useDisabledReason()("suppressions:write", "suppress addresses");
  const list = useQuery(
    trpc.suppressions.list.queryOptions({ team: teamId, ...state.input }, listOptions(refetchMs)),
  );
  const columns = useMemo(() => suppressionColumns(teamId), [teamId]);
  const openImport = () => setImporting(true);
  const { after: _, before: __, ...exported } = state.input;
  return (
    <>
      <PageHeading
        {...HEADING}
        actions={
          <>
            <CreateButton
              label="Suppress addresses"
              permission="suppressions:write"
              what="suppress addresses"
              preload={AddSuppressions.preload}
              onClick={() => setAdding(true)}
            />
            <Menu
              label="More actions"
              items={[
                { label: "Import CSV…", Icon: FileUp, why, onSelect: openImport },
                {
                  label: "Export CSV",
                  Icon: Download,
                  href: `/console/suppressions/export?${new URLSearchParams({ team: teamId, ...exported })}`,
                },
              ]}
            />
          </>
        }
      />
      <ListPage
        label="Suppressions"
        columns={columns}
        list={list}
        state={state}
        filterBar={
          <>
            <SearchField
              label="Search by address"
              placeholder="Address starts with…"
              value={state.filters.search ?? ""}
              onSettle={(search) => state.change({ search: search || null })}
            />
            <SelectFilter
              label="Origin"
              anyLabel="Any origin"
              value={state.filters.origin}
              options={ORIGIN_OPTIONS}
              onChange={(origin) => state.change({ origin })}
            />
          </>
        }
        noMatch={{ title: "No results", text: "The search matches the start of an address." }}
        empty={{
          icon: Ban,
          title: "No suppressed addresses",
          text: "Hard bounces and complaints are added automatically, except those of test addresses. Moving from another service? Import its suppression list.",
          action:
            why === undefined ? (
              <Button Icon={FileUp} onClick={openImport}>
                Import list
              </Button>
            ) : null,
        }}
      />
      {isAdding ? <AddSuppressions teamId={teamId} onClose={() => setAdding(false)} /> : null}
      {isImporting ? <ImportSuppressions teamId={teamId} onClose={() => setImporting(false)} /> : null}
    </>
  );
}
