import type { ReactNode } from "react";
import { PageHeading } from "../_ui/page-heading";

/** The head of the list, also while it is fetched. */
export function DomainsHeading({ actions }: { actions?: ReactNode }) {
  return (
    <PageHeading
      title="Domains"
      description="What your mail is sent from. Each is set up once in DNS, and looked at from then on."
      actions={actions ?? <div className="h-10" />}
    />
  );
}
