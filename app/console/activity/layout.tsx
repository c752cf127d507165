import type { ReactNode } from "react";
import { PageHeading } from "../_ui/page/page-heading";
import { SubPages } from "../_ui/page/sub-pages";

const PAGES = [
  { path: "/console/activity", label: "Changes" },
  { path: "/console/activity/requests", label: "API requests" },
] as const;

/** The frame of the activity pages: changes by members and programs, and API requests. */
export default function ActivityLayout({ children }: { children: ReactNode }) {
  return (
    <>
      <PageHeading title="Activity" />
      <SubPages label="Activity" pages={PAGES} />
      {children}
    </>
  );
}
