import type { ReactNode } from "react";
import { PageHeading } from "../_ui/page/page-heading";

/** The page heading, with or without its button. */
export function KeysHeading({ actions }: { actions?: ReactNode }) {
  return (
    <PageHeading
      title="API keys"
      description="Programs authenticate their API requests with a key. Each key has its own permissions."
      actions={actions}
    />
  );
}
