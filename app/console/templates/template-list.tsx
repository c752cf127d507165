"use client";

import { useQuery } from "@tanstack/react-query";
import { LayoutTemplate } from "lucide-react";
import { Suspense, useMemo } from "react";
import type { TemplateRow } from "#server/trpc/templates/templates";
import { CreateButton } from "../_ui/list/create-button";
import type { Column } from "../_ui/list/data-table";
import { SearchField } from "../_ui/list/filter-bar";
import { ListPage, listOptions, useListState } from "../_ui/list/list-page";
import { lazyPart } from "../_ui/page/lazy-part";
import { PageHeading } from "../_ui/page/page-heading";
import { useTRPC } from "../_ui/trpc";
import { useNew } from "../_ui/use-new";
import { TEMPLATE_COLUMNS } from "./columns";
import { templateFilters } from "./filters";
import { HEADING } from "./heading";
import { TemplateRowMenu } from "./row-menu";

const CreateTemplate = lazyPart(async () => (await import("./create-template")).CreateTemplate);

/** The list of templates, with a dialog to create one. */
export function TemplateList({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const state = useListState(templateFilters);
  const [isCreating, setCreating] = useNew("templates:write");
  const list = useQuery(trpc.templates.list.queryOptions({ team: teamId, ...state.input }, listOptions()));
  const columns = useMemo(() => withMenu(teamId), [teamId]);
  const create = (
    <CreateButton
      label="Create template"
      permission="templates:write"
      what="create templates"
      preload={CreateTemplate.preload}
      onClick={() => setCreating(true)}
    />
  );
  return (
    <>
      <PageHeading {...HEADING} actions={create} />
      <ListPage
        label="Templates"
        columns={columns}
        list={list}
        state={state}
        rowHref={({ id }) => `/console/templates/${id}`}
        filterBar={
          <SearchField
            label="Search by name or alias"
            value={state.filters.search ?? ""}
            onSettle={(search) => state.change({ search: search || null })}
          />
        }
        empty={{
          icon: LayoutTemplate,
          title: "No templates yet",
          text: (
            <>
              Write an email once, with variables such as{" "}
              <code className="font-mono text-ink">{"{{NAME}}"}</code>. Programs send it by its alias. You can
              change the content without a deployment.
            </>
          ),
          action: create,
        }}
        noMatch={{
          title: "No matching templates",
          text: "The search covers names and aliases.",
          clears: "search",
        }}
      />
      {isCreating ? (
        <Suspense>
          <CreateTemplate teamId={teamId} onClose={() => setCreating(false)} />
        </Suspense>
      ) : null}
    </>
  );
}

const withMenu = (teamId: string): readonly Column<TemplateRow>[] => [
  ...TEMPLATE_COLUMNS,
  {
    id: "menu",
    header: "Actions",
    isHeaderHidden: true,
    isActive: true,
    width: "w-14",
    align: "right",
    phone: "hidden",
    cell: (row) => <TemplateRowMenu teamId={teamId} row={row} />,
  },
];
