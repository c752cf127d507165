"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { STATUSES, type Status } from "#server/shared/email-words";
import { Dialog } from "../_ui/dialog/dialog";
import { PartsActions } from "../_ui/dialog/parts-actions";
import { faultOf } from "../_ui/fault";
import { Button } from "../_ui/form/button";
import { CheckboxField } from "../_ui/form/form";
import { FormFault } from "../_ui/form/form-fault";
import { useTRPC } from "../_ui/trpc";
import { useParts } from "../_ui/use-parts";
import { type EmailFilters, filterInput, isRetryable, statusesOf } from "./filters";

type Props = { teamId: string; filters: EmailFilters; onClose: () => void };
type Done = { mails: number; recipients: number };

const NONE: Done = { mails: 0, recipients: 0 };
const formatEmails = (count: number, more = false) =>
  `${count.toLocaleString("en")}${more ? "+" : ""} ${count === 1 && !more ? "email" : "emails"}`;

/**
 * Retries all emails that match the filters and can be retried. It shows the number, then the progress, then
 * the result. Emails with unknown outcome are included only with the checkbox, whichever statuses are
 * filtered, because their recipients may get a duplicate.
 */
export function RetryMatching({ teamId, filters, onClose }: Props) {
  const trpc = useTRPC();
  const [includesUnknown, setIncludesUnknown] = useState(false);
  const filtered = statusesOf(filters);
  const canIncludeUnknown = filtered.length === 0 || filtered.includes("unknown");
  const statuses = filtered.filter(
    (status) => isRetryable(status) && (status !== "unknown" || includesUnknown),
  );
  const isUnknownOnly = filtered.length > 0 && statuses.length === 0;
  const input = { team: teamId, ...filterInput(filters), acceptDuplicates: includesUnknown };
  const { data, error } = useQuery(
    trpc.emails.countRetryable.queryOptions(
      { ...input, acceptDuplicates: includesUnknown || isUnknownOnly },
      { staleTime: 0, retry: false },
    ),
  );
  const { mutateAsync } = useMutation(trpc.emails.retryMatching.mutationOptions());
  const retry = useParts(NONE, [trpc.emails.pathKey()]);
  const isRunning = retry.state === "busy";
  const start = () =>
    retry.start(async (next, sum) => {
      const part = await mutateAsync({ ...input, next });
      const { mails, recipients } = part;
      return {
        sum: { mails: sum.mails + mails, recipients: sum.recipients + recipients },
        next: part.next,
      };
    });
  const isMore = data !== undefined && (data.hasMore || data.isPartial);
  const disabledReason =
    data?.count === 0 && !data.isPartial
      ? "No email that matches the filters can be retried."
      : isUnknownOnly
        ? "Include emails with unknown outcome first."
        : undefined;
  const fault = retry.fault ?? (error ? faultOf(error) : null);
  const footer = (
    <PartsActions parts={retry} onClose={onClose}>
      <Button onClick={onClose}>Cancel</Button>
      <Button tone="primary" disabled={!data} disabledReason={disabledReason} onClick={start}>
        {isUnknownOnly
          ? "Retry emails"
          : data && data.count > 0
            ? `Retry ${formatEmails(data.count, isMore)}`
            : "Retry"}
      </Button>
    </PartsActions>
  );
  return (
    <Dialog onOpenChange={onClose} title="Retry emails" isPersistent={isRunning} footer={footer}>
      {retry.state === "ready" ? (
        <>
          <p className="leading-6" role="status">
            {!data ? (
              "Counting…"
            ) : isUnknownOnly ? (
              <>
                Matching emails with unknown outcome: <strong>{formatEmails(data.count, isMore)}</strong>.{" "}
                {data.count === 1 && !isMore
                  ? "It is retried only if you include it."
                  : "They are retried only if you include them."}
              </>
            ) : (
              <Summary {...data} statuses={statuses} withUnknown={includesUnknown} />
            )}
          </p>
          {canIncludeUnknown ? (
            <CheckboxField
              label="Include emails with unknown outcome"
              hint="They may have arrived. In that case the recipient gets a duplicate."
              checked={includesUnknown}
              onChange={({ target }) => setIncludesUnknown(target.checked)}
            />
          ) : null}
        </>
      ) : (
        <Progress
          done={retry.sum}
          of={isMore ? null : (data?.count ?? null)}
          isDone={!isRunning}
          isStopped={retry.state === "stopped"}
        />
      )}
      <FormFault fault={fault} />
    </Dialog>
  );
}

type SummaryProps = {
  count: number;
  hasMore: boolean;
  isPartial: boolean;
  statuses: readonly Status[];
  withUnknown: boolean;
};

function Summary({ count, hasMore, isPartial, statuses, withUnknown }: SummaryProps) {
  const which =
    statuses.length === 0
      ? `failed${withUnknown ? ", deferred or of unknown outcome" : " or deferred"}`
      : statuses.map((name) => STATUSES[name].label.toLowerCase()).join(" or ");
  if (count === 0 && isPartial)
    return (
      <>
        None of the newest emails that match the filters is {which}. Older emails are not counted. A retry
        searches them too, and sends what it finds.
      </>
    );
  if (count === 0) return <>Nothing to retry. No email that matches the filters is {which}.</>;
  return (
    <>
      Matching emails that are {which}: <strong>{formatEmails(count, hasMore || isPartial)}</strong>.
      {isPartial ? " Older emails are not counted, and are retried too." : ""} They are sent again to the
      recipients who did not receive them{withUnknown ? " or whose outcome is unknown" : ""}. Suppressed
      addresses are skipped.
    </>
  );
}

type ProgressProps = { done: Done; of: number | null; isDone: boolean; isStopped: boolean };

function Progress({ done, of, isDone, isStopped }: ProgressProps) {
  const recipients = `${done.recipients.toLocaleString("en")} ${done.recipients === 1 ? "recipient" : "recipients"}`;
  return (
    <div className="flex flex-col gap-3" role="status">
      <progress
        aria-label="Retry progress"
        max={of ?? undefined}
        value={isDone ? (of ?? 1) : of === null ? undefined : Math.min(done.mails, of)}
        className="h-2 w-full accent-accent"
      />
      <p>
        {isDone ? (isStopped ? "Stopped. " : "") : "Working… "}
        {formatEmails(done.mails)} queued for retry, {recipients}.
      </p>
    </div>
  );
}
