import { trpc } from "#server/trpc/caller";
import { operatorPage, operatorTitle } from "../operator-page";
import { RelayList } from "./relay-list";

export const generateMetadata = operatorTitle("Relays");

/** The relays of the installation, of teams and of domains. */
export default operatorPage("/console/installation/relays", () => ({
  queries: [trpc.relays.list.queryOptions()],
  page: <RelayList />,
}));
