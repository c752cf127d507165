"use client";

import { useQuery } from "@tanstack/react-query";
import { LayoutTemplate } from "lucide-react";
import { useMemo } from "react";
import { CreateButton } from "../_ui/list/create-button";
import { SearchField } from "../_ui/list/filter-bar";
import { ListPage, listOptions, useListState } from "../_ui/list/list-page";
import { lazyDialog } from "../_ui/page/lazy-part";
import { PageHeading } from "../_ui/page/page-heading";
import { useTRPC } from "../_ui/trpc";
import { useNew } from "../_ui/use-new";
import { templateColumns } from "./columns";
import { templateFilters } from "./filters";
import { HEADING } from "./heading";

const CreateTemplate = lazyDialog(async () => (await import("./create-template")).CreateTemplate);

/** The list of templates, with a dialog to create one. */
export function TemplateList({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const state = useListState(templateFilters);
  const [isCreating, setCreating] = useNew("templates:write");
  const list = useQuery(trpc.templates.list.queryOptions({ team: teamId, ...state.input }, listOptions()));
  const columns = useMemo(() => templateColumns(teamId), [teamId]);
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
              <code className="font-mono text-ink">{"{{NAME}}"}</code>. Send it by its alias. You can change
              the content without deploying code.
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
      {isCreating ? <CreateTemplate teamId={teamId} onClose={() => setCreating(false)} /> : null}
    </>
  );
}
