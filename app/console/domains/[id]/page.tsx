import { trpc } from "#server/trpc/caller";
import { consolePage, objectTitle } from "../../console-page";
import { DomainPage } from "./domain-page";

export const generateMetadata = objectTitle(
  "Domain",
  async (of) => trpc.domains.get.queryOptions(of),
  ({ name }: { name: string }) => name,
);

/** One domain: its DNS records, their check results, and its settings. */
export default consolePage("/console/domains/[id]", ({ team, params: { id } }) => ({
  objects: [trpc.domains.get.queryOptions({ team, id })],
  queries: [trpc.team.copies.queryOptions({ team, domain: id })],
  page: <DomainPage teamId={team} id={id} />,
}));
