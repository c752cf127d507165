"use client";

import { useQuery } from "@tanstack/react-query";
import { Plus, Server } from "lucide-react";
import { CAPTURED, CAPTURED_ADVICE } from "#server/shared/email-words";
import { RELAY_STATES, type RelayState } from "#server/shared/wire/relay-states";
import type { RelayRow, Transport } from "#server/trpc/installation/relays";
import { Button } from "../../_ui/form/button";
import { type Column, DataTable, MENU_COLUMN, OneLine } from "../../_ui/list/data-table";
import { Empty } from "../../_ui/list/empty";
import { SkeletonTable } from "../../_ui/list/skeleton";
import { Fetched } from "../../_ui/page/fetched";
import { lazyDialog } from "../../_ui/page/lazy-part";
import { MessageText } from "../../_ui/text/address";
import { Badge } from "../../_ui/text/badge";
import { RELAY_TONES } from "../../_ui/text/statuses";
import { useTRPC } from "../../_ui/trpc";
import { useNew } from "../../_ui/use-new";
import { RelayMenu } from "./relay-menu";

const AddRelay = lazyDialog(async () => (await import("./dialogs")).AddRelay);

const refetchMs = 5_000;

/** The relays in the order in which each scope uses them, with add, edit, test, pause, resume and remove. */
export function RelayList() {
  const trpc = useTRPC();
  const [isAdding, setAdding] = useNew();
  const list = useQuery(trpc.relays.list.queryOptions(undefined, { refetchInterval: refetchMs }));
  const add = (
    <Button tone="primary" Icon={Plus} onPointerEnter={AddRelay.preload} onClick={() => setAdding(true)}>
      Add relay
    </Button>
  );
  return (
    <>
      <div className="mb-6 flex flex-wrap items-start justify-between gap-4">
        <p className="max-w-prose text-pretty text-soft leading-6">
          Email uses the relays of its domain. If there are none, it uses those of its team, then those of all
          teams, then <code>SMTP_URL</code>. Where email is captured, no relay is used. New and failing relays
          are tested once a minute, and carry email after a test succeeds.
        </p>
        {add}
      </div>
      <Fetched by={list} loading={<SkeletonTable />}>
        {({ transport, rows }) => (
          <>
            {transport === "capture" && rows.length > 0 ? (
              <p className="mb-4">
                <MessageText>{WITHOUT_RELAYS.capture}</MessageText>
              </p>
            ) : null}
            <DataTable
              label="Relays"
              columns={COLUMNS}
              rows={rows}
              empty={
                <Empty icon={Server} title="No relays">
                  <p>
                    <MessageText>{WITHOUT_RELAYS[transport]}</MessageText>
                  </p>
                </Empty>
              }
            />
          </>
        )}
      </Fetched>
      {isAdding ? <AddRelay onClose={() => setAdding(false)} /> : null}
    </>
  );
}

/** How email is sent without relays. In capture mode, relays are not used either. */
const WITHOUT_RELAYS: Record<Transport, string> = {
  relay: "Email is sent through the server of SMTP_URL. To use another one instead, add it as a relay.",
  direct: "Email is sent directly to the recipients' mail servers. To use a provider instead, add a relay.",
  capture: `${CAPTURED} ${CAPTURED_ADVICE}`,
  none: "Email to real recipients stays queued. To send it, add the SMTP server of a provider.",
};

const formatScope = ({ team, domain }: RelayRow): string =>
  team === null ? "All teams" : domain === null ? `Team ${team}` : `${domain}, team ${team}`;

const COLUMNS: readonly Column<RelayRow>[] = [
  {
    header: "Relay",
    cell: ({ name, host }) => (
      <>
        <OneLine>{name}</OneLine>
        <OneLine className="font-normal text-soft text-xs">{host}</OneLine>
      </>
    ),
  },
  {
    header: "For",
    width: "w-52",
    cell: (relay) => <span title={formatScope(relay)}>{formatScope(relay)}</span>,
  },
  {
    isWide: true,
    header: "Position",
    width: "w-20",
    align: "right",
    cell: ({ position }) => position,
  },
  {
    header: "Last error or reason",
    phone: "plain",
    isWhole: true,
    cell: ({ pauseReason, lastFault }) => pauseReason ?? lastFault ?? <span className="text-soft">None</span>,
  },
  { header: "Status", width: "w-36", phone: "corner", cell: (relay) => <State relay={relay} /> },
  { ...MENU_COLUMN, cell: (relay) => <RelayMenu relay={relay} /> },
];

const DESCRIPTIONS: Record<RelayState, string> = {
  healthy: "Carries email",
  unstable: "Carries email; had errors since its last success",
  failing: "Carries no email; tested once a minute",
  untested: "Carries no email until a test succeeds",
  paused: "Paused by the operator; carries no email until it is resumed",
};

const State = ({ relay: { state } }: { relay: RelayRow }) => (
  <Badge tone={RELAY_TONES[state]} title={DESCRIPTIONS[state]}>
    {RELAY_STATES[state]}
  </Badge>
);
