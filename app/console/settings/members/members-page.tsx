"use client";

import { useQuery } from "@tanstack/react-query";
import { UserPlus } from "lucide-react";
import { Suspense, useMemo, useState } from "react";
import type { MemberRow } from "#server/trpc/members/views";
import { faultOf } from "../../_ui/fault";
import { ActionButton } from "../../_ui/form/action-button";
import { DataTable } from "../../_ui/list/data-table";
import { lazyPart } from "../../_ui/page/lazy-part";
import { useDisabledReason } from "../../_ui/page/permission";
import { buttonStyle, cardStyle } from "../../_ui/styles";
import { useCan } from "../../_ui/team";
import { FaultNote } from "../../_ui/text/notes";
import { useTRPC } from "../../_ui/trpc";
import { useNew } from "../../_ui/use-new";
import { MembersHeading } from "./heading";
import { Invitations } from "./invitations";
import { type MemberAction, memberColumns } from "./member-columns";

/** New members appear at the next refetch. A hidden tab does not refetch. */
const refetchMs = 15_000;

const loadInvite = () => import("./invite");
const Invite = lazyPart(async () => (await loadInvite()).Invite);
const MemberDialog = lazyPart(async () => (await import("./member-dialogs")).MemberDialog);

/** The members of the team and the pending invitations. */
export function MembersPage({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const can = useCan();
  const disabledReason = useDisabledReason()("members:write", "invite people");
  const [isInviting, setInviting] = useNew("members:write");
  const [wasInviting, setWasInviting] = useState(isInviting);
  const [action, setAction] = useState<MemberAction | null>(null);
  const { data, error, refetch } = useQuery(
    trpc.members.list.queryOptions({ team: teamId }, { refetchInterval: refetchMs }),
  );
  const canManage = can("members:write");
  const canManageOwners = can("owners:write");
  const columns = useMemo(
    () => memberColumns({ canManage, canManageOwners, onAction: setAction }),
    [canManage, canManageOwners],
  );
  const invite = () => {
    setWasInviting(true);
    setInviting(true);
  };

  return (
    <>
      <MembersHeading
        actions={
          <ActionButton
            disabledReason={disabledReason}
            onPointerEnter={() => void loadInvite().catch(() => {})}
            onClick={invite}
            className={`${buttonStyle.primary} h-10`}
          >
            <UserPlus className="size-4" aria-hidden="true" /> Invite
          </ActionButton>
        }
      />
      {error && !data ? (
        <div className={cardStyle}>
          <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} />
        </div>
      ) : (
        <DataTable label="Members" columns={columns} rows={data ?? NO_ROWS} isLoading={!data} />
      )}
      {canManage ? <Invitations teamId={teamId} canManageOwners={canManageOwners} /> : null}
      <Suspense>
        {wasInviting || isInviting ? (
          <Invite teamId={teamId} open={isInviting} onOpenChange={setInviting} />
        ) : null}
        {action ? <MemberDialog teamId={teamId} action={action} onClose={() => setAction(null)} /> : null}
      </Suspense>
    </>
  );
}

const NO_ROWS: MemberRow[] = [];
