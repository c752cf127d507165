"use client";

import { useQuery } from "@tanstack/react-query";
import { UserPlus } from "lucide-react";
import { Suspense, useMemo, useState } from "react";
import type { MemberRow } from "#server/trpc/member-views";
import { ActButton } from "../../_ui/act-button";
import { DataTable } from "../../_ui/data-table";
import { faultOf } from "../../_ui/fault";
import { lazyPart } from "../../_ui/lazy-part";
import { useWhyNot } from "../../_ui/no-right";
import { FaultNote } from "../../_ui/notes";
import { buttonStyle, cardStyle } from "../../_ui/styles";
import { useMay } from "../../_ui/team";
import { useTRPC } from "../../_ui/trpc";
import { useNew } from "../../_ui/use-new";
import { MembersHeading } from "./heading";
import { Invitations } from "./invitations";
import { type MemberAct, memberColumns } from "./member-columns";

/** Whoever joins shows up by themselves; a hidden tab asks for nothing. */
const askAgainMs = 15_000;

const loadInvite = () => import("./invite");
const Invite = lazyPart(async () => (await loadInvite()).Invite);
const MemberActs = lazyPart(async () => (await import("./member-acts")).MemberActs);

/** The members of the team, what can be done about each, and who was invited. */
export function MembersPage({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const may = useMay();
  const whyNot = useWhyNot()("members:write", "invite people");
  const [isInviting, setInviting] = useNew("members:write");
  const [wasInviting, setWasInviting] = useState(isInviting);
  const [act, setAct] = useState<MemberAct | null>(null);
  const { data, error, refetch } = useQuery(
    trpc.members.list.queryOptions({ team: teamId }, { refetchInterval: askAgainMs }),
  );
  const mayManage = may("members:write");
  const mayManageOwners = may("owners:write");
  const columns = useMemo(
    () => memberColumns({ mayManage, mayManageOwners, onAct: setAct }),
    [mayManage, mayManageOwners],
  );
  const invite = () => {
    setWasInviting(true);
    setInviting(true);
  };

  return (
    <>
      <MembersHeading
        actions={
          <ActButton
            whyNot={whyNot}
            onPointerEnter={() => void loadInvite().catch(() => {})}
            onClick={invite}
            className={`${buttonStyle.primary} h-10`}
          >
            <UserPlus className="size-4" aria-hidden="true" /> Invite
          </ActButton>
        }
      />
      {error && !data ? (
        <div className={cardStyle}>
          <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} />
        </div>
      ) : (
        <DataTable label="Members" columns={columns} rows={data ?? NOBODY} isLoading={!data} />
      )}
      {mayManage ? <Invitations teamId={teamId} mayManageOwners={mayManageOwners} /> : null}
      <Suspense>
        {wasInviting || isInviting ? (
          <Invite teamId={teamId} open={isInviting} onOpenChange={setInviting} />
        ) : null}
        {act ? <MemberActs teamId={teamId} act={act} onClose={() => setAct(null)} /> : null}
      </Suspense>
    </>
  );
}

const NOBODY: MemberRow[] = [];
