import type { ReactNode } from "react";
import { PageHeading } from "../_ui/page-heading";
import { SubPages } from "../_ui/sub-pages";

const PAGES = [
  { path: "/console/activity", label: "Changes" },
  { path: "/console/activity/requests", label: "API requests" },
] as const;

/** The frame of what happened in the team: what people and programs changed, and what programs asked for. */
export default function ActivityLayout({ children }: { children: ReactNode }) {
  return (
    <>
      <PageHeading title="Activity" />
      <SubPages label="Activity" pages={PAGES} />
      {children}
    </>
  );
}
