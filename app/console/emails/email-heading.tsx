"use client";

import { Download, RotateCcw } from "lucide-react";
import { useState } from "react";
import { Button } from "../_ui/form/button";
import { lazyDialog } from "../_ui/page/lazy-part";
import { PageHeading } from "../_ui/page/page-heading";
import { useDisabledReason } from "../_ui/page/permission";
import { buttonStyle } from "../_ui/styles";
import { type EmailFilters, filterInput, isFiltered, isRetryable, statusesOf } from "./filters";

const RetryMatching = lazyDialog(async () => (await import("./retry-matching")).RetryMatching);

type Props = {
  teamId: string;
  filters: EmailFilters;
  /** No email matches the filters. */
  isEmpty: boolean;
};

/** The heading with the actions for all emails that match the filters. */
export function EmailHeading({ teamId, filters, isEmpty }: Props) {
  const [isOpen, setOpen] = useState(false);
  const statuses = statusesOf(filters);
  const disabledReason =
    useDisabledReason()("emails:send", "retry emails") ??
    (statuses.length > 0 && !statuses.some(isRetryable)
      ? `Emails with the status "${statuses.join('" or "')}" cannot be retried. Choose another status.`
      : isFiltered(filters)
        ? undefined
        : "Set a filter first, for example the status “Bounced”.");
  const query = new URLSearchParams({ team: teamId, ...filterInput(filters) });
  return (
    <>
      <PageHeading
        title="Emails"
        actions={
          <>
            <Button
              isSmall
              Icon={RotateCcw}
              disabledReason={disabledReason}
              title="Retry failed and deferred emails that match the filters. Bounced emails need the status filter “Bounced”."
              onPointerEnter={RetryMatching.preload}
              onFocus={RetryMatching.preload}
              onClick={() => setOpen(true)}
            >
              Retry emails…
            </Button>
            {isEmpty ? (
              <Button isSmall Icon={Download} disabledReason="There are no emails to export.">
                Export CSV
              </Button>
            ) : (
              <a
                href={`/console/emails/export?${query}`}
                title="Export all emails that match the filters"
                className={`${buttonStyle.plain} h-9`}
              >
                <Download className="size-4" aria-hidden="true" /> Export CSV
              </a>
            )}
          </>
        }
      />
      {isOpen ? <RetryMatching teamId={teamId} filters={filters} onClose={() => setOpen(false)} /> : null}
    </>
  );
}
