"use client";

import { useQuery } from "@tanstack/react-query";
import { Suspense, useMemo, useState } from "react";
import type { InvitationRow } from "#server/trpc/members/views";
import { faultOf } from "../../_ui/fault";
import { DataTable } from "../../_ui/list/data-table";
import { lazyPart } from "../../_ui/page/lazy-part";
import { cardStyle } from "../../_ui/styles";
import { FaultNote } from "../../_ui/text/notes";
import { useTRPC } from "../../_ui/trpc";
import { type InvitationAction, invitationColumns } from "./invitation-columns";

const InvitationDialog = lazyPart(async () => (await import("./invitation-dialogs")).InvitationDialog);

/** An accepted invitation disappears at the next refetch. */
const refetchMs = 15_000;

/** The pending invitations. Renders nothing if there are none. */
export function Invitations({ teamId, canManageOwners }: { teamId: string; canManageOwners: boolean }) {
  const trpc = useTRPC();
  const [action, setAction] = useState<InvitationAction | null>(null);
  const { data, error, refetch } = useQuery(
    trpc.invitations.list.queryOptions({ team: teamId }, { refetchInterval: refetchMs }),
  );
  const columns = useMemo(
    () => invitationColumns({ canManageOwners, onAction: setAction }),
    [canManageOwners],
  );
  const rows = data ?? NO_ROWS;
  return (
    <>
      {rows.length > 0 || error ? (
        <section aria-labelledby="invitations" className="mt-8">
          <h2 id="invitations" className="mb-3 font-semibold text-base">
            Pending invitations
          </h2>
          {error && !data ? (
            <div className={cardStyle}>
              <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} />
            </div>
          ) : (
            <DataTable label="Invitations" columns={columns} rows={rows} />
          )}
        </section>
      ) : null}
      <Suspense>
        {action ? <InvitationDialog teamId={teamId} action={action} onClose={() => setAction(null)} /> : null}
      </Suspense>
    </>
  );
}

const NO_ROWS: InvitationRow[] = [];
