import type { ReactNode } from "react";
import { PageHeading } from "../_ui/page-heading";
import { SubPages } from "../_ui/sub-pages";

/** First what is the reader's own, then what is the team's. */
const PAGES = [
  { path: "/console/settings/profile", label: "Profile" },
  { path: "/console/settings/security", label: "Security" },
  { path: "/console/settings/team", label: "Team" },
  { path: "/console/settings/members", label: "Members" },
] as const;

/** The frame of the settings: their name, and the way from one page of them to the next. */
export default function SettingsLayout({ children }: { children: ReactNode }) {
  return (
    <>
      <PageHeading title="Settings" />
      <SubPages label="Settings" pages={PAGES} />
      {children}
    </>
  );
}
