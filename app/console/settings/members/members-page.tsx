"use client";

import { useQuery } from "@tanstack/react-query";
import { UserPlus } from "lucide-react";
import { Suspense, useMemo, useState } from "react";
import { CreateButton } from "../../_ui/list/create-button";
import { DataTable } from "../../_ui/list/data-table";
import { SkeletonTable } from "../../_ui/list/skeleton";
import { Fetched } from "../../_ui/page/fetched";
import { lazyPart } from "../../_ui/page/lazy-part";
import { useCan } from "../../_ui/team";
import { useTRPC } from "../../_ui/trpc";
import { useNew } from "../../_ui/use-new";
import { type InvitationAction, invitationColumns, type MemberAction, memberColumns } from "./columns";
import { MembersHeading } from "./loading";

/**
 * New members appear and accepted invitations disappear at the next refetch. A hidden tab does not refetch.
 */
const refetchMs = 15_000;

const Invite = lazyPart(async () => (await import("./dialogs")).Invite);
const MemberDialog = lazyPart(async () => (await import("./dialogs")).MemberDialog);
const InvitationDialog = lazyPart(async () => (await import("./dialogs")).InvitationDialog);

/** The members of the team and the pending invitations. */
export function MembersPage({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const can = useCan();
  const [isInviting, setInviting] = useNew("members:write");
  const [action, setAction] = useState<MemberAction | null>(null);
  const members = useQuery(trpc.members.list.queryOptions({ team: teamId }, { refetchInterval: refetchMs }));
  const canManage = can("members:write");
  const canManageOwners = can("owners:write");
  const columns = useMemo(
    () => memberColumns({ canManage, canManageOwners, onAction: setAction }),
    [canManage, canManageOwners],
  );
  return (
    <>
      <MembersHeading
        actions={
          <CreateButton
            label="Invite"
            permission="members:write"
            what="invite people"
            Icon={UserPlus}
            preload={Invite.preload}
            onClick={() => setInviting(true)}
          />
        }
      />
      <Fetched by={members} loading={<SkeletonTable />}>
        {(rows) => <DataTable label="Members" columns={columns} rows={rows} />}
      </Fetched>
      {canManage ? <Invitations teamId={teamId} canManageOwners={canManageOwners} /> : null}
      <Suspense>
        {isInviting ? <Invite teamId={teamId} onClose={() => setInviting(false)} /> : null}
        {action ? <MemberDialog teamId={teamId} action={action} onClose={() => setAction(null)} /> : null}
      </Suspense>
    </>
  );
}

/** The pending invitations. Renders nothing if there are none. */
function Invitations({ teamId, canManageOwners }: { teamId: string; canManageOwners: boolean }) {
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
