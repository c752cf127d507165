import type { ReactNode } from "react";
import { isPageOperator } from "#server/trpc/caller";
import { PageHeading } from "../_ui/page/page-heading";
import { SubPages } from "../_ui/page/sub-pages";

const PAGES = [
  { path: "/console/installation", label: "Status" },
  { path: "/console/installation/alerts", label: "Alerts" },
  { path: "/console/installation/doctor", label: "Doctor" },
  { path: "/console/installation/relays", label: "Relays" },
  { path: "/console/installation/destinations", label: "Destinations" },
  { path: "/console/installation/queues", label: "Queues" },
  { path: "/console/installation/teams", label: "Teams" },
] as const;

/** The heading and the navigation of the installation's pages. Other users only see that there is no such page. */
export default async function InstallationLayout({ children }: { children: ReactNode }) {
  if (!(await isPageOperator())) return children;
  return (
    <>
      <PageHeading title="Installation" />
      <SubPages label="Installation" pages={PAGES} />
      {children}
    </>
  );
}
