import { trpc } from "#server/trpc/caller";
import { readFilters } from "../../console-page";
import { operatorPage, operatorTitle } from "../operator-page";
import { DeletionList } from "./deletion-list";
import { teamFilters } from "./filters";
import { TeamList } from "./team-list";

export const generateMetadata = operatorTitle("Teams");

/** All teams of the installation, newest first. */
export default operatorPage("/console/installation/teams", ({ search }) => ({
  queries: [
    trpc.installation.teams.queryOptions(readFilters(teamFilters, search)),
    trpc.installation.deletions.queryOptions(),
  ],
  page: (
    <>
      <TeamList />
      <DeletionList />
    </>
  ),
}));
