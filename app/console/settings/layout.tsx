import type { ReactNode } from "react";
import { PageHeading } from "../_ui/page/page-heading";
import { SubPages } from "../_ui/page/sub-pages";
import { SETTINGS_PAGES } from "../_ui/shell/pages";

/** The heading and the navigation of the settings pages. */
export default function SettingsLayout({ children }: { children: ReactNode }) {
  return (
    <>
      <PageHeading title="Settings" />
      <SubPages label="Settings" pages={SETTINGS_PAGES} />
      {children}
    </>
  );
}
