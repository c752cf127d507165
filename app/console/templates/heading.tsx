import type { ReactNode } from "react";
import { PageHeading } from "../_ui/page/page-heading";

/** The heading of the list, also used by its loading state. */
export function TemplatesHeading({ actions }: { actions?: ReactNode }) {
  return (
    <PageHeading
      title="Templates"
      description="The content of your emails, separate from your code. Programs send a template by its alias and provide the values."
      actions={actions}
    />
  );
}
