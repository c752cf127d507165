import { notFound } from "next/navigation";
import type { ReactNode } from "react";
import { pageSession } from "#server/trpc/caller";
import { PageHeading } from "../_ui/page/page-heading";
import { SubPages } from "../_ui/page/sub-pages";
import { INSTALLATION_PAGES } from "../_ui/shell/pages";

/**
 * The heading and the navigation of the installation's pages. For other users there is no such page. This is
 * decided above the loading state, where the response can still have the status 404.
 */
export default async function InstallationLayout({ children }: { children: ReactNode }) {
  const session = await pageSession();
  // The page leads to the sign-in.
  if (!session) return children;
  if (!session.isOperator) notFound();
  return (
    <>
      <PageHeading title="Installation" />
      <SubPages label="Installation" pages={INSTALLATION_PAGES} />
      {children}
    </>
  );
}
