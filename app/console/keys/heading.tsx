import type { ReactNode } from "react";
import { PageHeading } from "../_ui/page-heading";

/** The head of the list, with and without its button. */
export function KeysHeading({ actions }: { actions?: ReactNode }) {
  return (
    <PageHeading
      title="API keys"
      description="What your programs sign their calls with. A key does what you let it do, and no more."
      actions={actions}
    />
  );
}
