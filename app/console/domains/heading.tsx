import type { ReactNode } from "react";
import { PageHeading } from "../_ui/page/page-heading";

/** The page heading, also shown while the list loads. */
export function DomainsHeading({ actions }: { actions?: ReactNode }) {
  return (
    <PageHeading
      title="Domains"
      description="The domains that you send email from. Set up their DNS records once; they are checked regularly after that."
      actions={actions ?? <div className="h-10" />}
    />
  );
}
