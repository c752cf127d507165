import type { ReactNode } from "react";
import { PageHeading } from "../_ui/page-heading";

/** The head of the list, with and without its button. */
export function WebhooksHeading({ actions }: { actions?: ReactNode }) {
  return (
    <PageHeading
      title="Webhooks"
      description="Addresses of your programs that are called when something happens to your mail."
      actions={actions}
    />
  );
}
