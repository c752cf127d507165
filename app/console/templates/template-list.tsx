"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { LayoutTemplate, Plus } from "lucide-react";
import { useQueryStates } from "nuqs";
import { Suspense, useMemo } from "react";
import type { TemplateRow } from "#server/trpc/templates/templates";
import { ActionButton } from "../_ui/form/action-button";
import { type Column, DataTable } from "../_ui/list/data-table";
import { Empty, NoMatch, PageGone } from "../_ui/list/empty";
import { FilterBar, SearchField } from "../_ui/list/filter-bar";
import { Pager } from "../_ui/list/pager";
import { Fetched } from "../_ui/page/fetched";
import { lazyPart } from "../_ui/page/lazy-part";
import { useDisabledReason } from "../_ui/page/permission";
import { buttonStyle } from "../_ui/styles";
import { useTRPC } from "../_ui/trpc";
import { useNew } from "../_ui/use-new";
import { TEMPLATE_COLUMNS } from "./columns";
import { templateFilters, templateListInput } from "./filters";
import { TemplatesHeading } from "./heading";
import { TemplateRowMenu } from "./row-menu";

const load = () => import("./create-template");
const CreateTemplate = lazyPart(async () => (await load()).CreateTemplate);

/** The list of templates, with a dialog to create one. */
export function TemplateList({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const [filters, setFilters] = useQueryStates(templateFilters);
  const [isCreating, setCreating] = useNew("templates:write");
  const disabledReason = useDisabledReason()("templates:write", "create templates");
  const { data, error, refetch, isPlaceholderData } = useQuery(
    trpc.templates.list.queryOptions(templateListInput(teamId, filters), {
      placeholderData: keepPreviousData,
    }),
  );
  const columns = useMemo(() => withMenu(teamId), [teamId]);
  const create = (
    <ActionButton
      disabledReason={disabledReason}
      onPointerEnter={() => void load().catch(() => {})}
      onClick={() => setCreating(true)}
      className={`${buttonStyle.primary} h-10`}
    >
      <Plus className="size-4" aria-hidden="true" /> Create template
    </ActionButton>
  );
  const empty = filters.search ? (
    <NoMatch
      icon={LayoutTemplate}
      title="No matching templates"
      clears="search"
      onClear={() => void setFilters(null)}
    >
      <p>The search covers names and aliases.</p>
    </NoMatch>
  ) : filters.after || filters.before ? (
    <PageGone />
  ) : (
    <Empty icon={LayoutTemplate} title="No templates yet" action={create}>
      <p>
        Write an email once, with variables such as <code className="font-mono text-ink">{"{{NAME}}"}</code>.
        Programs send it by its alias. You can change the content without a deployment.
      </p>
    </Empty>
  );

  return (
    <>
      <TemplatesHeading actions={create} />
      <FilterBar>
        <SearchField
          label="Search by name or alias"
          value={filters.search ?? ""}
          onSettle={(search) => void setFilters({ search: search || null, after: null, before: null })}
        />
      </FilterBar>
      <Fetched by={{ data, error, refetch }}>
        <DataTable
          label="Templates"
          columns={columns}
          rows={data?.rows ?? NONE}
          rowHref={hrefOf}
          isLoading={!data}
          isStale={isPlaceholderData}
          empty={empty}
        />
      </Fetched>
      {data ? (
        <Pager page={data} at={filters} onMove={(to) => void setFilters(to, { history: "push" })} />
      ) : null}
      {isCreating ? (
        <Suspense>
          <CreateTemplate teamId={teamId} onClose={() => setCreating(false)} />
        </Suspense>
      ) : null}
    </>
  );
}

const NONE: never[] = [];
const hrefOf = ({ id }: { id: string }) => `/console/templates/${id}`;

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
