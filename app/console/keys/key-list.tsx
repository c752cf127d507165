"use client";

import { useQuery } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { TIERS } from "#server/shared/rate-limits";
import type { KeyRow } from "#server/trpc/keys/keys";
import { formatNumber } from "../_ui/format-number";
import { useCreation } from "../_ui/list/create-button";
import { type Column, timeColumn } from "../_ui/list/data-table";
import { SelectFilter } from "../_ui/list/filter-bar";
import { ListPage, listOptions, useListState } from "../_ui/list/list-page";
import { lazyDialog } from "../_ui/page/lazy-part";
import { PageHeading } from "../_ui/page/page-heading";
import { Badge } from "../_ui/text/badge";
import { When } from "../_ui/text/when";
import { useTRPC } from "../_ui/trpc";
import { keyFilters } from "./filters";
import { formatPermissions, formatScopes, KeyStateBadge, type KeyStateProps, TIER_LABELS } from "./labels";
import { HEADING } from "./loading";

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
  const list = useQuery(
    trpc.keys.list.queryOptions({ team: teamId, ...state.input }, listOptions(refetchMs)),
  );
  const { button, form } = useCreation(
    CreateKey,
    { teamId, publicUrl },
    { label: "Create key", permission: "keys:write", what: "create keys" },
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
            of={state}
            name="state"
            options={[{ value: "revoked", label: "Revoked keys" }]}
          />
        }
        empty={{
          icon: KeyRound,
          ...(state.filters.state === "revoked" ? NONE_REVOKED : { ...NONE, action: button }),
        }}
      />
      {form}
    </>
  );
}

/** The columns of the key list. */
const KEY_COLUMNS: readonly Column<KeyRow>[] = [
  {
    header: "Name",
    width: "w-[22%]",
    cell: ({ name, token_id }) => (
      <>
        <span className="block truncate" title={name}>
          {name}
        </span>
        <span className="block truncate font-mono font-normal text-soft text-xs">re_{token_id}_…</span>
      </>
    ),
  },
  {
    header: "Permissions",
    width: "w-34",
    cell: ({ scopes }) => <span title={formatPermissions(scopes)}>{formatScopes(scopes)}</span>,
  },
  {
    header: "Sending domains",
    cell: (row) => <SendingDomains of={row} />,
  },
  {
    isWide: true,
    header: "Limits",
    width: "w-24",
    cell: ({ limits }) => <OwnLimits limits={limits} />,
  },
  {
    isWide: true,
    header: "Rejected (24 h)",
    width: "w-28",
    cell: ({ recent_refusals }) => <RejectedCount counts={recent_refusals} />,
  },
  timeColumn("Last used", ({ last_used_at }) => last_used_at, { isWide: true, width: "w-28", none: "Never" }),
  {
    header: "Status",
    width: "w-32",
    phone: "corner",
    cell: (row) => (
      <>
        <KeyStateBadge of={row} />
        <Expiry of={row} />
      </>
    ),
  },
];

/** The expiry of a key. Nothing if it expires soon, because the badge already shows it. */
function Expiry({ of: { state, expires_at, expiresSoon } }: KeyStateProps) {
  if (state === "revoked" || expiresSoon) return null;
  return (
    <span className="mt-0.5 block text-soft text-xs max-md:text-right">
      {expires_at === null ? (
        "No expiry"
      ) : (
        <>
          {state === "expired" ? "" : "Expires "}
          <When isDue at={expires_at} />
        </>
      )}
    </span>
  );
}

function OwnLimits({ limits }: Pick<KeyRow, "limits">) {
  const own = TIERS.filter((tier) => limits[tier] !== undefined);
  if (own.length === 0) return <span className="text-soft">Default</span>;
  const title = own.map((tier) => `${TIER_LABELS[tier]}: ${limits[tier]} per minute`).join(", ");
  return <span title={title}>{own.length} custom</span>;
}

function SendingDomains({ of: { all_domains, domains } }: { of: KeyRow }) {
  if (all_domains)
    return <span title="All domains of the team, including domains added later">All domains</span>;
  const [first, ...others] = domains.map(({ name }) => name);
  return (
    <span title={domains.map(({ name }) => name).join(", ")}>
      {first ?? "No domains"}
      {others.length > 0 ? ` and ${others.length} more` : ""}
    </span>
  );
}

function RejectedCount({ counts }: { counts: KeyRow["recent_refusals"] }) {
  const causes = [
    { count: counts.unauthorized, cause: "expired or revoked" },
    { count: counts.forbidden, cause: "without permission" },
    { count: counts.rate_limited, cause: "over the rate limit" },
  ].filter(({ count }) => count > 0);
  if (causes.length === 0) return <span className="text-soft">None</span>;
  return (
    <Badge tone="warn" title={causes.map(({ count, cause }) => `${formatNumber(count)} ${cause}`).join(", ")}>
      {formatNumber(causes.reduce((sum, { count }) => sum + count, 0))}
    </Badge>
  );
}
