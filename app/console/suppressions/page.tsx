import type { Metadata } from "next";
import { trpc } from "#server/trpc/caller";
import { consolePage, readFilters } from "../console-page";
import { suppressionFilters } from "./filters";
import { SuppressionList } from "./suppression-list";

export const metadata: Metadata = { title: "Suppressions" };

/** The suppression list of the team, newest first. */
export default consolePage("/console/suppressions", ({ team, search }) => ({
  queries: [trpc.suppressions.list.queryOptions({ team, ...readFilters(suppressionFilters, search) })],
  page: <SuppressionList teamId={team} />,
}));
