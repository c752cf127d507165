import { trpc } from "#server/trpc/caller";
import { operatorPage, operatorTitle } from "../operator-page";
import { DestinationList } from "./destination-list";

export const generateMetadata = operatorTitle("Destinations");

/** The limits for direct delivery to recipients' domains. */
export default operatorPage("/console/installation/destinations", () => ({
  queries: [trpc.installation.destinations.queryOptions()],
  page: <DestinationList />,
}));
