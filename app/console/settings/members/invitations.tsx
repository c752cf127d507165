"use client";

import { useQuery } from "@tanstack/react-query";
import { Suspense, useMemo, useState } from "react";
import type { InvitationRow } from "#server/trpc/member-views";
import { DataTable } from "../../_ui/data-table";
import { faultOf } from "../../_ui/fault";
import { lazyPart } from "../../_ui/lazy-part";
import { FaultNote } from "../../_ui/notes";
import { cardStyle } from "../../_ui/styles";
import { useTRPC } from "../../_ui/trpc";
import { type InvitationAct, invitationColumns } from "./invitation-columns";

const InvitationActs = lazyPart(async () => (await import("./invitation-acts")).InvitationActs);

/** Whoever accepts leaves the list by themselves. */
const askAgainMs = 15_000;

/** Who was invited and has not accepted yet. Nothing at all where there is nobody. */
export function Invitations({ teamId, mayManageOwners }: { teamId: string; mayManageOwners: boolean }) {
  const trpc = useTRPC();
  const [act, setAct] = useState<InvitationAct | null>(null);
  const { data, error, refetch } = useQuery(
    trpc.invitations.list.queryOptions({ team: teamId }, { refetchInterval: askAgainMs }),
  );
  const columns = useMemo(() => invitationColumns({ mayManageOwners, onAct: setAct }), [mayManageOwners]);
  const rows = data ?? NONE;
  return (
    <>
      {rows.length > 0 || error ? (
        <section aria-labelledby="invitations" className="mt-8">
          <h2 id="invitations" className="mb-3 font-semibold text-base">
            Invitations that wait
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
        {act ? <InvitationActs teamId={teamId} act={act} onClose={() => setAct(null)} /> : null}
      </Suspense>
    </>
  );
}

const NONE: InvitationRow[] = [];
