"use client";

import { useQuery } from "@tanstack/react-query";
import { Copy, LayoutTemplate, Trash2 } from "lucide-react";
import { useMemo, useState } from "react";
import type { TemplateRow } from "#server/trpc/templates/templates";
import { Menu } from "../_ui/dialog/menu";
import { useCreation } from "../_ui/list/create-button";
import { type Column, MENU_COLUMN, OneLine, timeColumn } from "../_ui/list/data-table";
import { SearchField } from "../_ui/list/filter-bar";
import { ListPage, listOptions, useListState } from "../_ui/list/list-page";
import { lazyDialog } from "../_ui/page/lazy-part";
import { PageHeading } from "../_ui/page/page-heading";
import { useDisabledReason } from "../_ui/page/permission";
import { When } from "../_ui/text/when";
import { useTRPC } from "../_ui/trpc";
import { TemplateStateBadge } from "./[id]/state-badge";
import { DeleteTemplate } from "./delete-template";
import { templateFilters } from "./filters";
import { HEADING } from "./loading";
import { useDuplicate } from "./use-duplicate";

const CreateTemplate = lazyDialog(async () => (await import("./create-template")).CreateTemplate);

/** The list of templates, with a dialog to create one. */
export function TemplateList({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const state = useListState(templateFilters);
  const list = useQuery(trpc.templates.list.queryOptions({ team: teamId, ...state.input }, listOptions()));
  const columns = useMemo(() => templateColumns(teamId), [teamId]);
  const { button, form } = useCreation(
    CreateTemplate,
    { teamId },
    { label: "Create template", permission: "templates:write", what: "create templates" },
  );
  return (
    <>
      <PageHeading {...HEADING} actions={button} />
      <ListPage
        label="Templates"
        columns={columns}
        list={list}
        state={state}
        rowHref={({ id }) => `/console/templates/${id}`}
        filterBar={<SearchField label="Search by name or alias" of={state} name="search" />}
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
          action: button,
        }}
        noMatch={{
          title: "No matching templates",
          text: "The search covers names and aliases.",
          clears: "search",
        }}
      />
      {form}
    </>
  );
}

/** The columns of the list of templates. */
const templateColumns = (teamId: string): readonly Column<TemplateRow>[] => [
  {
    header: "Name",
    cell: ({ name, alias }) => (
      <>
        <OneLine>{name}</OneLine>
        <OneLine className="font-mono font-normal text-soft text-xs">{alias ?? "no alias"}</OneLine>
      </>
    ),
  },
  {
    header: "Version",
    width: "w-24",
    cell: ({ currentNumber, publishedNumber }) => (
      <span className="tabular-nums">
        {publishedNumber === null || publishedNumber === currentNumber
          ? currentNumber
          : `${publishedNumber} → ${currentNumber}`}
      </span>
    ),
  },
  timeColumn("Updated", ({ updated_at }) => updated_at, { width: "w-28" }),
  {
    header: "Last used",
    width: "w-28",
    cell: ({ lastUsedAt }) =>
      lastUsedAt ? (
        <When at={lastUsedAt} />
      ) : (
        <span className="text-soft" title="No stored email uses this template">
          Never
        </span>
      ),
  },
  {
    header: "Status",
    width: "w-32",
    phone: "corner",
    cell: (row) => <TemplateStateBadge {...row} />,
  },
  {
    ...MENU_COLUMN,
    width: "w-14",
    cell: (row) => <TemplateRowMenu teamId={teamId} row={row} />,
  },
];

/** The actions for a template in the list. */
function TemplateRowMenu({ teamId, row }: { teamId: string; row: TemplateRow }) {
  const why = useDisabledReason()("templates:write", "change templates");
  const [isDeleting, setDeleting] = useState(false);
  const duplicate = useDuplicate();
  return (
    <>
      <Menu
        label={`Actions for ${row.name}`}
        items={[
          {
            label: "Duplicate",
            Icon: Copy,
            why,
            onSelect: () => duplicate.run({ team: teamId, id: row.id }),
          },
          "line",
          { label: "Delete…", Icon: Trash2, tone: "bad", why, onSelect: () => setDeleting(true) },
        ]}
      />
      {isDeleting ? (
        <DeleteTemplate teamId={teamId} template={row} onClose={() => setDeleting(false)} />
      ) : null}
    </>
  );
}
