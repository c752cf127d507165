import type { Metadata } from "next";
import { publicUrl, trpc } from "#server/trpc/caller";
import { consolePage, readFilters } from "../console-page";
import { keyFilters } from "./filters";
import { KeyList } from "./key-list";

export const metadata: Metadata = { title: "API keys" };

/** The API keys of the team, newest first. */
export default consolePage("/console/keys", ({ team, search }) => ({
  queries: [trpc.keys.list.queryOptions({ team, ...readFilters(keyFilters, search) })],
  page: <KeyList teamId={team} publicUrl={publicUrl()} />,
}));
