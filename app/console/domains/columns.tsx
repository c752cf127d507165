"use client";

import { LoaderCircle, Radar, Trash2, TriangleAlert } from "lucide-react";
import { useState } from "react";
import type { DomainRow } from "#server/trpc/domains/views";
import { Menu } from "../_ui/dialog/menu";
import { type Column, MENU_COLUMN } from "../_ui/list/data-table";
import { lazyDialog } from "../_ui/page/lazy-part";
import { useDisabledReason } from "../_ui/page/permission";
import { LabelBadge } from "../_ui/text/badge";
import { When } from "../_ui/text/when";
import { useTRPC } from "../_ui/trpc";
import { useAction } from "../_ui/use-action";
import { HEALTH } from "./labels";

const RemoveDomain = lazyDialog(async () => (await import("./remove-domain")).RemoveDomain);

/** The columns of the list of domains. */
export const domainColumns = (teamId: string): readonly Column<DomainRow>[] => [
  {
    id: "name",
    header: "Name",
    cell: ({ name, unicode, warning }) => (
      <>
        {warning ? (
          <span title={warning}>
            <TriangleAlert
              className="mr-1.5 inline size-4 text-warn"
              role="img"
              aria-label="Can be confused with another name:"
            />
          </span>
        ) : null}
        {unicode ?? name}
        {unicode ? <span className="ml-2 font-mono font-normal text-soft text-xs">{name}</span> : null}
      </>
    ),
  },
  {
    id: "health",
    header: "Status",
    width: "w-40",
    phone: "corner",
    cell: ({ health }) => <LabelBadge {...HEALTH[health]} />,
  },
  {
    id: "today",
    header: "Daily cap",
    cell: ({ today: { allowed, handed_over }, warm_up }) =>
      allowed === null ? (
        <span className="text-soft">No cap</span>
      ) : (
        <span title={warm_up ? "Warming up: the cap grows each day" : "Recipients today, of the daily cap"}>
          {handed_over.toLocaleString("en")} of {allowed.toLocaleString("en")}
          {warm_up ? <span className="text-soft"> · warming up</span> : null}
        </span>
      ),
  },
  {
    id: "checked",
    isWide: true,
    header: "Last checked",
    width: "w-32",
    cell: ({ last_checked_at, health }) =>
      last_checked_at ? (
        <When at={last_checked_at} className="text-soft" />
      ) : (
        <span className="text-soft">{health === "built_in" ? "Not required" : "Not checked"}</span>
      ),
  },
  {
    ...MENU_COLUMN,
    width: "w-14",
    cell: (row) => <DomainRowMenu teamId={teamId} row={row} />,
  },
];

/** The actions of a domain in the list. The built-in domain has none. */
function DomainRowMenu({ teamId, row }: { teamId: string; row: DomainRow }) {
  const trpc = useTRPC();
  const why = useDisabledReason()("domains:write", "change domains");
  const [isRemoving, setRemoving] = useState(false);
  const { id, name, health } = row;
  const verify = useAction(trpc.domains.verify.mutationOptions(), {
    refresh: [trpc.domains.list.queryKey()],
    done: ({ status }) =>
      status === "verified" ? `${name} is verified` : `${name} is not verified yet. Its page shows why.`,
  });
  // As wide as a menu, so that the badges of all rows are aligned.
  if (health === "built_in") return <span aria-hidden="true" className="inline-block size-8" />;
  if (verify.isBusy)
    return (
      <span role="status" className="inline-grid size-8 place-items-center">
        <LoaderCircle className="size-4 motion-safe:animate-spin" aria-hidden="true" />
        <span className="sr-only">Checking the records of {name}</span>
      </span>
    );
  return (
    <>
      <Menu
        label={`Actions for ${name}`}
        items={[
          {
            label: row.last_checked_at ? "Check again" : "Verify records",
            Icon: Radar,
            why,
            onSelect: () => verify.run({ team: teamId, id }),
          },
          "line",
          { label: "Remove domain…", Icon: Trash2, tone: "bad", why, onSelect: () => setRemoving(true) },
        ]}
      />
      {isRemoving ? <RemoveDomain teamId={teamId} domain={row} onClose={() => setRemoving(false)} /> : null}
    </>
  );
}
