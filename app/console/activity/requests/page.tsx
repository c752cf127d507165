import type { Metadata } from "next";
import { trpc } from "#server/trpc/caller";
import { consolePage, readFilters } from "../../console-page";
import { requestFilters } from "../filters";
import { RequestList } from "./request-list";

export const metadata: Metadata = { title: "API requests" };

/** The API requests of the last seven days, newest first. */
export default consolePage("/console/activity/requests", ({ team, search }) => ({
  queries: [
    trpc.activity.requests.queryOptions({ team, ...readFilters(requestFilters, search) }),
    trpc.activity.keys.queryOptions({ team }),
  ],
  page: <RequestList teamId={team} />,
}));
