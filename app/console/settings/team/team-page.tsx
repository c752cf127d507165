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
      {(team) => (
        <div className="flex flex-col gap-6">
          <NameSection teamId={teamId} name={team.name} />
          <UnknownSection teamId={teamId} policy={team.unknown} />
          <CapSection dailyCap={team.daily_cap} handedOverToday={team.handed_over_today ?? 0} />
          <RetentionSection
            teamId={teamId}
            retention={{ bodiesDays: team.keep_contents_days, emailsDays: team.keep_emails_days }}
          />
          <OtherTeamSection />
        </div>
      )}
    </Fetched>
  );
}
