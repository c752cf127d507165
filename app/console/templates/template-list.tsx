"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { LayoutTemplate, Plus } from "lucide-react";
import { useQueryStates } from "nuqs";
import { Suspense, useMemo } from "react";
import type { TemplateRow } from "#server/trpc/template-views";
import { ActButton } from "../_ui/act-button";
import { type Column, DataTable } from "../_ui/data-table";
import { Empty, NoMatch, PageGone } from "../_ui/empty";
import { Fetched } from "../_ui/fetched";
import { FilterBar, SearchField } from "../_ui/filter-bar";
import { lazyPart } from "../_ui/lazy-part";
import { useWhyNot } from "../_ui/no-right";
import { Pager } from "../_ui/pager";
import { buttonStyle } from "../_ui/styles";
import { useTRPC } from "../_ui/trpc";
import { useNew } from "../_ui/use-new";
import { TEMPLATE_COLUMNS } from "./columns";
import { templateFilters, templateListInput } from "./filters";
import { TemplatesHeading } from "./heading";
import { TemplateRowMenu } from "./row-menu";

const load = () => import("./create-template");
const CreateTemplate = lazyPart(async () => (await load()).CreateTemplate);

/** The templates of the team, and the way to make one. */
export function TemplateList({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const [filters, setFilters] = useQueryStates(templateFilters);
  const [isCreating, setCreating] = useNew("templates:write");
  const whyNot = useWhyNot()("templates:write", "make templates");
  const { data, error, refetch, isPlaceholderData } = useQuery(
    trpc.templates.list.queryOptions(templateListInput(teamId, filters), {
      placeholderData: keepPreviousData,
    }),
  );
  const columns = useMemo(() => withMenu(teamId), [teamId]);
  const create = (
    <ActButton
      whyNot={whyNot}
      onPointerEnter={() => void load().catch(() => {})}
      onClick={() => setCreating(true)}
      className={`${buttonStyle.primary} h-10`}
    >
      <Plus className="size-4" aria-hidden="true" /> Create template
    </ActButton>
  );
  const empty = filters.search ? (
    <NoMatch
      icon={LayoutTemplate}
      title="No template matches"
      clears="search"
      onClear={() => void setFilters(null)}
    >
      <p>Looked for in names and aliases.</p>
    </NoMatch>
  ) : filters.after || filters.before ? (
    <PageGone />
  ) : (
    <Empty icon={LayoutTemplate} title="No template yet" action={create}>
      <p>
        Write a mail once, with places for values such as{" "}
        <code className="font-mono text-ink">{"{{NAME}}"}</code>. Your programs send it by its alias, and its
        words can change without a deployment.
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
