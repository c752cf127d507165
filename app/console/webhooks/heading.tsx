import type { ReactNode } from "react";
import { PageHeading } from "../_ui/page/page-heading";

/** The page heading, with or without its button. */
export function WebhooksHeading({ actions }: { actions?: ReactNode }) {
  return (
    <PageHeading
      title="Webhooks"
      description="URLs of your programs that receive events about your email."
      actions={actions}
    />
  );
}
