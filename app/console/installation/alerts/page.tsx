import { trpc } from "#server/trpc/caller";
import { operatorPage, operatorTitle } from "../operator-page";
import { AlertsPage } from "./alerts-page";

export const generateMetadata = operatorTitle("Alerts");

/** What needs attention, of the installation and of its teams. */
export default operatorPage("/console/installation/alerts", () => ({
  queries: [trpc.alerts.list.queryOptions()],
  page: <AlertsPage />,
}));
