"use client";

import { Download, RotateCcw } from "lucide-react";
import { Suspense, useState } from "react";
import { ActButton } from "../_ui/act-button";
import { lazyPart } from "../_ui/lazy-part";
import { useWhyNot } from "../_ui/no-right";
import { PageHeading } from "../_ui/page-heading";
import { buttonStyle } from "../_ui/styles";
import { type EmailFilters, filterInput } from "./filters";

const load = () => import("./retry-matching");
const preload = () => void load().catch(() => {});
const RetryMatching = lazyPart(async () => (await load()).RetryMatching);
const RETRYABLE: readonly string[] = ["failed", "bounced", "deferred", "unknown"];

/** What can be done with all that the filters find. */
export function EmailHeading({ teamId, filters }: { teamId: string; filters: EmailFilters }) {
  const [isOpen, setOpen] = useState(false);
  const [wasOpen, setWasOpen] = useState(false);
  const { status } = filters;
  const whyNot =
    useWhyNot()("emails:send", "send mail again") ??
    (status !== null && !RETRYABLE.includes(status)
      ? `Mail that is ${status} cannot be retried. Choose another status, or any.`
      : undefined);
  const query = new URLSearchParams({ team: teamId, ...filterInput(filters) });
  return (
    <>
      <PageHeading
        title="Emails"
        actions={
          <>
            <ActButton
              whyNot={whyNot}
              title="All that failed, bounced or is deferred, as far as the filters find it"
              onPointerEnter={preload}
              onFocus={preload}
              onClick={() => {
                setWasOpen(true);
                setOpen(true);
              }}
              className={`${buttonStyle.plain} h-9`}
            >
              <RotateCcw className="size-4" aria-hidden="true" /> Retry failed…
            </ActButton>
            <a
              href={`/console/emails/export?${query}`}
              title="All that the filters find"
              className={`${buttonStyle.plain} h-9`}
            >
              <Download className="size-4" aria-hidden="true" /> Export CSV
            </a>
          </>
        }
      />
      {wasOpen ? (
        <Suspense>
          <RetryMatching teamId={teamId} filters={filters} open={isOpen} onOpenChange={setOpen} />
        </Suspense>
      ) : null}
    </>
  );
}
