import type { ReactNode } from "react";
import { PageHeading } from "../_ui/page/page-heading";
import { SubPages } from "../_ui/page/sub-pages";

/** The pages of the user first, then the pages of the team. */
const PAGES = [
  { path: "/console/settings/profile", label: "Profile" },
  { path: "/console/settings/security", label: "Security" },
  { path: "/console/settings/team", label: "Team" },
  { path: "/console/settings/members", label: "Members" },
  { path: "/console/settings/personal-data", label: "Personal data" },
] as const;

/** The heading and the navigation of the settings pages. */
export default function SettingsLayout({ children }: { children: ReactNode }) {
  return (
    <>
      <PageHeading title="Settings" />
      <SubPages label="Settings" pages={PAGES} />
      {children}
    </>
  );
}
