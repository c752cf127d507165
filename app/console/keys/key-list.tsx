"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { KeyRound, Plus } from "lucide-react";
import { useQueryStates } from "nuqs";
import { Suspense, useState } from "react";
import { ActButton } from "../_ui/act-button";
import { DataTable } from "../_ui/data-table";
import { Empty, PageGone } from "../_ui/empty";
import { Fetched } from "../_ui/fetched";
import { FilterBar, SelectFilter } from "../_ui/filter-bar";
import { lazyPart } from "../_ui/lazy-part";
import { useWhyNot } from "../_ui/no-right";
import { Pager } from "../_ui/pager";
import { buttonStyle } from "../_ui/styles";
import { useTRPC } from "../_ui/trpc";
import { useNew } from "../_ui/use-new";
import { KEY_COLUMNS } from "./columns";
import { keyFilters, keyListInput } from "./filters";
import { KeysHeading } from "./heading";

/** Last uses and refusals come in by themselves; a hidden tab asks for nothing. */
const askAgainMs = 15_000;

const load = () => import("./create-key");
const CreateKey = lazyPart(async () => (await load()).CreateKey);

/** The keys of the team, and the way to make one. */
export function KeyList({ teamId, publicUrl }: { teamId: string; publicUrl: string }) {
  const trpc = useTRPC();
  const [filters, setFilters] = useQueryStates(keyFilters);
  const [isCreating, setCreating] = useNew("keys:write");
  const [wasCreating, setWasCreating] = useState(false);
  const whyNot = useWhyNot()("keys:write", "make keys");
  const { data, error, refetch, isPlaceholderData } = useQuery(
    trpc.keys.list.queryOptions(keyListInput(teamId, filters), {
      placeholderData: keepPreviousData,
      refetchInterval: askAgainMs,
    }),
  );
  const openForm = () => {
    setWasCreating(true);
    setCreating(true);
  };
  const button = (
    <ActButton
      whyNot={whyNot}
      onPointerEnter={() => void load().catch(() => {})}
      onClick={openForm}
      className={`${buttonStyle.primary} h-10`}
    >
      <Plus className="size-4" aria-hidden="true" /> Create key
    </ActButton>
  );
  const empty =
    filters.state === "revoked" ? (
      <Empty icon={KeyRound} title="No revoked keys">
        <p>A key that is revoked is refused within a second, and stays listed here.</p>
      </Empty>
    ) : (
      <Empty icon={KeyRound} title="No key yet" action={button}>
        <p>
          Programs send mail with a key. Make one for each program, so that each can be ended without stopping
          the others.
        </p>
      </Empty>
    );

  return (
    <>
      <KeysHeading actions={button} />
      <FilterBar>
        <SelectFilter
          label="State"
          anyLabel="Keys in use"
          value={filters.state}
          options={[{ value: "revoked", label: "Revoked keys" }]}
          onChange={(state) => void setFilters({ state, after: null, before: null })}
        />
      </FilterBar>
      <Fetched by={{ data, error, refetch }}>
        <DataTable
          label="API keys"
          columns={KEY_COLUMNS}
          rows={data?.rows ?? NONE}
          rowHref={hrefOf}
          isLoading={!data}
          isStale={isPlaceholderData}
          empty={filters.after || filters.before ? <PageGone /> : empty}
        />
      </Fetched>
      {data ? (
        <Pager page={data} at={filters} onMove={(to) => void setFilters(to, { history: "push" })} />
      ) : null}
      {wasCreating || isCreating ? (
        <Suspense>
          <CreateKey teamId={teamId} publicUrl={publicUrl} open={isCreating} onOpenChange={setCreating} />
        </Suspense>
      ) : null}
    </>
  );
}

const NONE: never[] = [];
const hrefOf = ({ id }: { id: string }) => `/console/keys/${id}`;
