import type { Metadata } from "next";
import { trpc } from "#server/trpc/caller";
import { consolePage, readFilters } from "../console-page";
import { ChangeList } from "./change-list";
import { changeFilters } from "./filters";

export const metadata: Metadata = { title: "Activity" };

/** The changes in the team, newest first. */
export default consolePage("/console/activity", ({ team, search }) => ({
  queries: [
    trpc.activity.changes.queryOptions({ team, ...readFilters(changeFilters, search) }),
    trpc.activity.actors.queryOptions({ team }),
  ],
  page: <ChangeList teamId={team} />,
}));
