import type { ReactNode } from "react";
import { PageHeading } from "../_ui/page/page-heading";

/** The page heading, with or without its buttons. */
export function SuppressionsHeading({ actions }: { actions?: ReactNode }) {
  return (
    <PageHeading
      title="Suppressions"
      description="Addresses that this team does not send email to. Hard bounces and complaints are added automatically. Email to a suppressed address gets the status “suppressed”."
      actions={actions}
    />
  );
}
