import type { EmailView } from "#server/trpc/emails/views";
import { PageHeading } from "../../_ui/page/page-heading";
import { CopyButton } from "../../_ui/text/copy-button";
import { StatusBadge } from "../../_ui/text/status-badge";
import { When } from "../../_ui/text/when";
import { EmailActions } from "./email-actions";

/** The subject, status, sender and time of an email, with its actions. */
export function Heading({ teamId, email }: { teamId: string; email: EmailView }) {
  return (
    <PageHeading
      back={{ href: "/console/emails", label: "Emails" }}
      title={email.subject || <span className="text-soft">No subject</span>}
      badge={<StatusBadge status={email.status} />}
      description={
        <span className="flex flex-wrap items-center gap-x-2 gap-y-0.5">
          <span className="wrap-anywhere">{email.from}</span>
          <span aria-hidden="true">·</span>
          <When at={email.created_at} />
          {email.scheduled_at && email.status === "scheduled" ? (
            <>
              <span aria-hidden="true">·</span>
              <span>
                will be sent <When at={email.scheduled_at} className="text-ink" />
              </span>
            </>
          ) : null}
          <span className="inline-flex min-w-0 items-center gap-0.5">
            <code className="truncate font-mono text-xs">{email.id}</code>
            <CopyButton text={email.id} label="Copy id" />
          </span>
        </span>
      }
      actions={<EmailActions teamId={teamId} email={email} />}
    />
  );
}
