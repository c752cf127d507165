"use client";

import { useQuery } from "@tanstack/react-query";
import { SkeletonCard } from "../../_ui/list/skeleton";
import { Fetched } from "../../_ui/page/fetched";
import { useTRPC } from "../../_ui/trpc";
import { CapSection } from "./cap-section";
import { NameSection } from "./name-section";
import { OtherTeamSection } from "./other-team-section";
import { RetentionSection } from "./retention-section";
import { UnknownSection } from "./unknown-section";

/** The settings of a team. */
export function TeamPage({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const settings = useQuery(trpc.team.settings.queryOptions({ team: teamId }));
  return (
    <Fetched by={settings} loading={<SkeletonCard lines={5} />}>
      {({ name, unknown, dailyCap, handedOverToday, retention }) => (
        <div className="flex flex-col gap-6">
          <NameSection teamId={teamId} name={name} />
          <UnknownSection teamId={teamId} policy={unknown} />
          <CapSection dailyCap={dailyCap} handedOverToday={handedOverToday} />
          <RetentionSection teamId={teamId} retention={retention} />
          <OtherTeamSection />
        </div>
      )}
    </Fetched>
  );
}
