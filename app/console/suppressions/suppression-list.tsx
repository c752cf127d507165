"use client";

import { useQuery } from "@tanstack/react-query";
import { Ban, Download, FileUp } from "lucide-react";
import { useMemo, useState } from "react";
import type { SuppressionRow } from "#server/trpc/suppressions/suppressions";
import { Confirm } from "../_ui/dialog/confirm";
import { Menu } from "../_ui/dialog/menu";
import { Button } from "../_ui/form/button";
import { useCreation } from "../_ui/list/create-button";
import { type Column, timeColumn } from "../_ui/list/data-table";
import { SearchField, SelectFilter } from "../_ui/list/filter-bar";
import { ListPage, listOptions, useListState } from "../_ui/list/list-page";
import { lazyDialog } from "../_ui/page/lazy-part";
import { PageHeading } from "../_ui/page/page-heading";
import { TextLink } from "../_ui/page/page-link";
import { useDisabledReason } from "../_ui/page/permission";
import { linkStyle } from "../_ui/styles";
import { WholeAddress } from "../_ui/text/address";
import { LabelBadge } from "../_ui/text/badge";
import { useTRPC } from "../_ui/trpc";
import { useAction } from "../_ui/use-action";
import { useNew } from "../_ui/use-new";
import { ORIGIN_LABELS, ORIGINS, type Origin, suppressionFilters } from "./filters";
import { HEADING } from "./loading";

const AddSuppressions = lazyDialog(async () => (await import("./add-suppressions")).AddSuppressions);
const ImportSuppressions = lazyDialog(async () => (await import("./import-suppressions")).ImportSuppressions);

/** Bounces and complaints add addresses at any time. */
const refetchMs = 15_000;
const ORIGIN_OPTIONS = ORIGINS.map((value) => ({ value, label: ORIGIN_LABELS[value].label }));

/** The suppression list of the team, with add, import, export and remove. */
export function SuppressionList({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const state = useListState(suppressionFilters);
  const { button, form } = useCreation(
    AddSuppressions,
    { teamId },
    { label: "Suppress addresses", permission: "suppressions:write", what: "suppress addresses" },
  );
  const [isImporting, setImporting] = useNew("suppressions:write", "import");
  const why = useDisabledReason()("suppressions:write", "suppress addresses");
  const list = useQuery(
    trpc.suppressions.list.queryOptions({ team: teamId, ...state.input }, listOptions(refetchMs)),
  );
  const columns = useMemo(() => suppressionColumns(teamId), [teamId]);
  const openImport = () => setImporting(true);
  return (
    <>
      <PageHeading
        {...HEADING}
        actions={
          <>
            {button}
            <Menu
              label="More actions"
              items={[
                { label: "Import CSV…", Icon: FileUp, why, onSelect: openImport },
                {
                  label: "Export CSV",
                  Icon: Download,
                  href: `/console/suppressions/export?${new URLSearchParams({ team: teamId, ...state.applied })}`,
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
              of={state}
              name="search"
            />
            <SelectFilter label="Origin" of={state} name="origin" options={ORIGIN_OPTIONS} />
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
      {form}
      {isImporting ? <ImportSuppressions teamId={teamId} onClose={() => setImporting(false)} /> : null}
    </>
  );
}

/** The columns of the suppression list. */
const suppressionColumns = (teamId: string): readonly Column<SuppressionRow>[] => [
  {
    header: "Address",
    width: "w-[36%]",
    cell: ({ email }) => <WholeAddress>{email}</WholeAddress>,
  },
  {
    header: "Reason",
    phone: "plain",
    isActive: true,
    cell: (row) => <Reason row={row} />,
  },
  timeColumn("Since", ({ created_at }) => created_at, { isWide: true, width: "w-28" }),
  {
    header: "Origin",
    width: "w-34",
    phone: "corner",
    cell: ({ origin }) => <LabelBadge {...ORIGIN_LABELS[origin]} />,
  },
  {
    header: "Remove",
    isHeaderHidden: true,
    isActive: true,
    width: "w-26",
    align: "right",
    phone: "plain",
    cell: (row) => <RemoveSuppression teamId={teamId} row={row} />,
  },
];

/** Why the address is suppressed, in one sentence or by the reply of its mail server. */
function Reason({ row: { email, origin, lists_only, lists, source_id, source } }: { row: SuppressionRow }) {
  const reply = lists_only ? null : source?.reply;
  // For an address added manually, the column Origin is the whole reason.
  if (origin === "manual" && !reply && !source) return <span className="text-soft max-lg:hidden">–</span>;
  const reason = lists_only
    ? lists
      ? `The recipient unsubscribed from ${lists.join(", ")}. Other email is still sent.`
      : "The recipient unsubscribed. Email without an unsubscribe link is still sent."
    : (reply ?? ORIGIN_LABELS[origin].description);
  return (
    <span className="flex min-w-0 flex-wrap items-center gap-x-3 text-soft">
      <span
        className={`wrap-anywhere line-clamp-4 grow basis-48 ${reply ? "font-mono text-xs" : ""}`}
        title={reason}
      >
        {reason}
      </span>
      {source ? (
        <TextLink
          to={`/console/emails/${source_id}`}
          aria-label={`View email to ${email}`}
          className={`${linkStyle} shrink-0 max-md:py-2.5`}
        >
          View email
        </TextLink>
      ) : null}
    </span>
  );
}

/** The consequences of a removal, by the origin of the suppression. */
const MEANING: Record<Origin, string> = {
  bounce:
    "This address hard bounced: its mail server rejected it permanently. If it still does not exist, the next email bounces too. The address is then suppressed again, and your reputation with that server declines.",
  complaint:
    "The recipient marked one of your emails as spam. Another complaint harms the reputation of your domain at that mailbox provider. Remove the address only if the recipient asked for it.",
  unsubscribe:
    "The recipient unsubscribed. In many countries it is illegal to send them such email again unless they ask for it.",
  manual: "This address was added manually.",
};

/** Removes one address from the suppression list, after a confirmation that shows the consequences. */
function RemoveSuppression({ teamId, row }: { teamId: string; row: SuppressionRow }) {
  const trpc = useTRPC();
  const [isConfirming, setConfirming] = useState(false);
  const why = useDisabledReason()("suppressions:write", "remove suppressions");
  const action = useAction(trpc.suppressions.remove.mutationOptions(), {
    done: `${row.email} removed from the list`,
    refresh: [trpc.suppressions.list.queryKey()],
    onDone: () => setConfirming(false),
  });
  return (
    <>
      <Button
        tone="quiet"
        isSmall
        disabledReason={why}
        title="Remove from list"
        aria-label={`Remove from list: ${row.email}`}
        onClick={() => setConfirming(true)}
        className="max-lg:-ml-2"
      >
        Remove
      </Button>
      <Confirm
        open={isConfirming}
        onOpenChange={setConfirming}
        title={`Remove ${row.email} from the list?`}
        confirmLabel="Remove from list"
        tone={row.origin === "manual" ? "plain" : "bad"}
        action={action}
        onConfirm={() => action.run({ team: teamId, ids: [row.id] })}
      >
        <p>{MEANING[row.origin]}</p>
        <p>Only new email is sent to this address. Email that was suppressed before is not sent.</p>
      </Confirm>
    </>
  );
}
