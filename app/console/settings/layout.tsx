import type { ReactNode } from "react";
import { PageHeading } from "../_ui/page-heading";
import { SettingsNavigation } from "./navigation";

/** The frame of the settings: their name, and the way from one page of them to the next. */
export default function SettingsLayout({ children }: { children: ReactNode }) {
  return (
    <>
      <PageHeading title="Settings" />
      <SettingsNavigation />
      {children}
    </>
  );
}
