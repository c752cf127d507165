import type { ReactNode } from "react";
import { PageHeading } from "../_ui/page-heading";

/** The head of the list, with and without its button. */
export function TemplatesHeading({ actions }: { actions?: ReactNode }) {
  return (
    <PageHeading
      title="Templates"
      description="What your mails say, kept apart from your code. Programs send by a template's alias and give the values."
      actions={actions}
    />
  );
}
