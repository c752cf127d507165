"use client";

import { useQuery } from "@tanstack/react-query";
import { Suspense, useMemo, useState } from "react";
import { DataTable } from "../../_ui/list/data-table";
import { Fetched } from "../../_ui/page/fetched";
import { lazyPart } from "../../_ui/page/lazy-part";
import { useTRPC } from "../../_ui/trpc";
import { type InvitationAction, invitationColumns } from "./invitation-columns";

const InvitationDialog = lazyPart(async () => (await import("./invitation-dialogs")).InvitationDialog);

/** An accepted invitation disappears at the next refetch. */
const refetchMs = 15_000;

/** The pending invitations. Renders nothing if there are none. */
export function Invitations({ teamId, canManageOwners }: { teamId: string; canManageOwners: boolean }) {
  const trpc = useTRPC();
  const [action, setAction] = useState<InvitationAction | null>(null);
  const invitations = useQuery(
    trpc.invitations.list.queryOptions({ team: teamId }, { refetchInterval: refetchMs }),
  );
  const columns = useMemo(
    () => invitationColumns({ canManageOwners, onAction: setAction }),
    [canManageOwners],
  );
  return (
    <>
      {invitations.data?.length || invitations.error ? (
        <section aria-labelledby="invitations" className="mt-8">
          <h2 id="invitations" className="mb-3 font-semibold text-base">
            Pending invitations
          </h2>
          <Fetched by={invitations}>
            {(rows) => <DataTable label="Invitations" columns={columns} rows={rows} />}
          </Fetched>
        </section>
      ) : null}
      <Suspense>
        {action ? <InvitationDialog teamId={teamId} action={action} onClose={() => setAction(null)} /> : null}
      </Suspense>
    </>
  );
}
