"use client";

import { useQuery } from "@tanstack/react-query";
import { faultOf } from "../../_ui/fault";
import { SkeletonCard } from "../../_ui/list/skeleton";
import { FaultNote } from "../../_ui/text/notes";
import { useTRPC } from "../../_ui/trpc";
import { CapSection } from "./cap-section";
import { NameSection } from "./name-section";
import { OtherTeamSection } from "./other-team-section";
import { RetentionSection } from "./retention-section";
import { UnknownSection } from "./unknown-section";

/** The settings of a team. */
export function TeamPage({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const { data, error, refetch } = useQuery(trpc.team.settings.queryOptions({ team: teamId }));
  if (error && !data) return <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} />;
  if (!data) return <SkeletonCard lines={5} />;
  return (
    <div className="flex flex-col gap-6">
      <NameSection teamId={teamId} name={data.name} />
      <UnknownSection teamId={teamId} policy={data.unknown} />
      <CapSection dailyCap={data.dailyCap} handedOverToday={data.handedOverToday} />
      <RetentionSection teamId={teamId} retention={data.retention} />
      <OtherTeamSection />
    </div>
  );
}
