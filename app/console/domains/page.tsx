import type { Metadata } from "next";
import { trpc } from "#server/trpc/caller";
import { consolePage, readFilters } from "../console-page";
import { DomainList } from "./domain-list";
import { domainFilters } from "./filters";

export const metadata: Metadata = { title: "Domains" };

/** The domains of the team, newest first. */
export default consolePage("/console/domains", ({ team, search }) => ({
  queries: [trpc.domains.list.queryOptions({ team, ...readFilters(domainFilters, search) })],
  page: <DomainList teamId={team} />,
}));
