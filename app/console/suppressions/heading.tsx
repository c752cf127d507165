import type { ReactNode } from "react";
import { PageHeading } from "../_ui/page-heading";

/** The head of the list, with and without its buttons. */
export function SuppressionsHeading({ actions }: { actions?: ReactNode }) {
  return (
    <PageHeading
      title="Suppressions"
      description="Addresses that no mail goes to. Dead ones and those who complained join by themselves; a mail to one of them is set aside, and says so."
      actions={actions}
    />
  );
}
