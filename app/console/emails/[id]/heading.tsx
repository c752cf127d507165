import type { EmailView } from "#server/trpc/email-views";
import { CopyButton } from "../../_ui/copy-button";
import { PageHeading } from "../../_ui/page-heading";
import { StatusBadge } from "../../_ui/status-badge";
import { When } from "../../_ui/when";
import { Acts } from "./acts";

/** What the mail is, where it stands, and what can be done with it. */
export function Heading({ teamId, email }: { teamId: string; email: EmailView }) {
  return (
    <PageHeading
      back={{ href: "/console/emails", label: "Emails" }}
      title={email.subject || <span className="text-soft">No subject</span>}
      badge={<StatusBadge status={email.status} />}
      description={
        <span className="flex flex-wrap items-center gap-x-2 gap-y-0.5">
          <span className="wrap-anywhere">{email.sender}</span>
          <span aria-hidden="true">·</span>
          <When at={email.createdAt} />
          {email.scheduledAt && email.status === "scheduled" ? (
            <>
              <span aria-hidden="true">·</span>
              <span>
                goes out <When at={email.scheduledAt} className="text-ink" />
              </span>
            </>
          ) : null}
          <span className="inline-flex min-w-0 items-center gap-0.5">
            <code className="truncate font-mono text-xs">{email.id}</code>
            <CopyButton text={email.id} label="Copy the id" />
          </span>
        </span>
      }
      actions={<Acts teamId={teamId} email={email} />}
    />
  );
}
