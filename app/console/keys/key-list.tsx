"use client";

import { useQuery } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { CreateButton } from "../_ui/list/create-button";
import { SelectFilter } from "../_ui/list/filter-bar";
import { ListPage, listOptions, useListState } from "../_ui/list/list-page";
import { lazyDialog } from "../_ui/page/lazy-part";
import { PageHeading } from "../_ui/page/page-heading";
import { useTRPC } from "../_ui/trpc";
import { useNew } from "../_ui/use-new";
import { KEY_COLUMNS } from "./columns";
import { keyFilters } from "./filters";
import { HEADING } from "./heading";

/** Refetches the last use and the rejected requests of each key. */
const refetchMs = 15_000;

const CreateKey = lazyDialog(async () => (await import("./create-key")).CreateKey);

const NONE = {
  title: "No API keys yet",
  text: "Create one key for each application. You can then revoke one without affecting the others.",
};
const NONE_REVOKED = {
  title: "No revoked keys",
  text: "A revoked key is rejected immediately, and stays listed here.",
};

/** The API keys of the team. */
export function KeyList({ teamId, publicUrl }: { teamId: string; publicUrl: string }) {
  const trpc = useTRPC();
  const state = useListState(keyFilters);
  const [isCreating, setCreating] = useNew("keys:write");
  const list = useQuery(
    trpc.keys.list.queryOptions({ team: teamId, ...state.input }, listOptions(refetchMs)),
  );
  const button = (
    <CreateButton
      label="Create key"
      permission="keys:write"
      what="create keys"
      preload={CreateKey.preload}
      onClick={() => setCreating(true)}
    />
  );
  return (
    <>
      <PageHeading {...HEADING} actions={button} />
      <ListPage
        label="API keys"
        columns={KEY_COLUMNS}
        list={list}
        state={state}
        rowHref={({ id }) => `/console/keys/${id}`}
        filterBar={
          <SelectFilter
            label="Status"
            anyLabel="Not revoked"
            value={state.filters.state}
            options={[{ value: "revoked", label: "Revoked keys" }]}
            onChange={(value) => state.change({ state: value })}
          />
        }
        empty={{
          icon: KeyRound,
          ...(state.filters.state === "revoked" ? NONE_REVOKED : { ...NONE, action: button }),
        }}
      />
      {isCreating ? (
        <CreateKey teamId={teamId} publicUrl={publicUrl} onClose={() => setCreating(false)} />
      ) : null}
    </>
  );
}
