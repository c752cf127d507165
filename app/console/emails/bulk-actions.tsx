"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { Ban, RotateCcw, X } from "lucide-react";
import { useState } from "react";
import { STATUSES, type Status } from "#server/shared/email-words";
import type { EmailRow } from "#server/trpc/emails/views";
import { Confirm } from "../_ui/dialog/confirm";
import { Dialog } from "../_ui/dialog/dialog";
import { PartsActions } from "../_ui/dialog/parts-actions";
import { faultOf } from "../_ui/fault";
import { Button } from "../_ui/form/button";
import { CheckboxField } from "../_ui/form/form";
import { FormFault } from "../_ui/form/form-fault";
import { formatCount, formatNumber } from "../_ui/format-number";
import { useDisabledReason } from "../_ui/page/permission";
import { iconButtonStyle } from "../_ui/styles";
import { useTRPC } from "../_ui/trpc";
import { useAction } from "../_ui/use-action";
import { useParts } from "../_ui/use-parts";
import type { Selection } from "./email-rows";
import { type EmailListState, isRetryable, statusesOf } from "./filters";

type RetryProps = { teamId: string; state: EmailListState; onClose: () => void };
type Done = { mails: number; recipients: number };

const NONE: Done = { mails: 0, recipients: 0 };
const formatEmails = (count: number, more = false) =>
  `${formatNumber(count)}${more ? "+" : ""} ${count === 1 && !more ? "email" : "emails"}`;

/**
 * Retries all emails that match the filters and can be retried. It shows the number, then the progress, then
 * the result. Emails with unknown outcome are included only with the checkbox, whichever statuses are
 * filtered, because their recipients may get a duplicate.
 */
export function RetryMatching({ teamId, state, onClose }: RetryProps) {
  const trpc = useTRPC();
  const [includesUnknown, setIncludesUnknown] = useState(false);
  const filtered = statusesOf(state.filters);
  const canIncludeUnknown = filtered.length === 0 || filtered.includes("unknown");
  const statuses = filtered.filter(
    (status) => isRetryable(status) && (status !== "unknown" || includesUnknown),
  );
  const isUnknownOnly = filtered.length > 0 && statuses.length === 0;
  const input = { team: teamId, ...state.applied, acceptDuplicates: includesUnknown };
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
  const recipients = `${formatCount(done.recipients, "recipient")}`;
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

type BarProps = { teamId: string; rows: readonly EmailRow[]; selection: Selection };

/** The actions for the selected emails, at the bottom of the window. Hidden if none is selected. */
export function SelectionBar({ teamId, rows, selection }: BarProps) {
  const trpc = useTRPC();
  const [dialog, setDialog] = useState<"retry" | "cancel" | null>(null);
  const disabledReason = useDisabledReason()("emails:send", "retry or cancel emails");
  const count = selection.ids.size;
  const close = () => setDialog(null);
  const finish = () => {
    close();
    selection.clear();
  };
  const refresh = [trpc.emails.pathKey()];
  const retry = useAction(trpc.emails.retrySelected.mutationOptions(), {
    refresh,
    done: (result) =>
      result.mails === 0
        ? "Nothing to retry: none of the selected emails failed, bounced or is deferred."
        : `${formatEmails(result.mails)} queued for retry${result.mails < count ? `; ${count - result.mails} had nothing to retry` : ""}`,
    onDone: finish,
  });
  const cancel = useAction(trpc.emails.cancelSelected.mutationOptions(), {
    refresh,
    done: ({ canceled, refused }) =>
      `${formatEmails(canceled.length)} canceled${refused.length > 0 ? `; ${refused.length} could not be canceled` : ""}`,
    onDone: finish,
  });
  if (count === 0) return null;
  const button = { tone: "quiet", isSmall: true, disabledReason, className: "text-ink" } as const;
  const ids = [...selection.ids];
  const unknown = rows.filter(({ id, status }) => selection.ids.has(id) && status === "unknown").length;
  return (
    <>
      <div
        role="toolbar"
        aria-label="Selected emails"
        className="sticky bottom-4 z-20 mx-auto mt-4 flex w-fit max-w-full flex-wrap items-center gap-1 rounded-xl border border-line bg-page p-1.5 pl-4 shadow-lg"
      >
        <span className="mr-2 font-medium" role="status">
          {formatNumber(count)} selected
        </span>
        <Button {...button} Icon={RotateCcw} onClick={() => setDialog("retry")}>
          Retry…
        </Button>
        <Button {...button} Icon={Ban} onClick={() => setDialog("cancel")}>
          Cancel…
        </Button>
        <button
          type="button"
          onClick={selection.clear}
          aria-label="Clear selection"
          className={iconButtonStyle}
        >
          <X className="size-4" />
        </button>
      </div>
      <Confirm
        open={dialog === "retry"}
        onOpenChange={close}
        title={`Retry ${formatEmails(count)}?`}
        confirmLabel={`Retry ${formatEmails(count)}`}
        tone="plain"
        action={retry}
        onConfirm={() => retry.run({ team: teamId, ids, acceptDuplicates: false })}
      >
        <p>
          Each email is sent again now to the recipients for whom it failed, bounced or is deferred.
          Recipients who received it are skipped.
        </p>
        {unknown > 0 ? (
          <p>
            Not retried because the outcome is unknown: {formatEmails(unknown)}. To resolve the outcome, open
            the email.
          </p>
        ) : null}
      </Confirm>
      <Confirm
        open={dialog === "cancel"}
        onOpenChange={close}
        title={`Cancel ${formatEmails(count)}?`}
        confirmLabel={`Cancel ${formatEmails(count)}`}
        dismissLabel="Keep schedule"
        action={cancel}
        onConfirm={() => cancel.run({ team: teamId, ids })}
      >
        <p>
          Scheduled emails are canceled permanently. Emails that are in progress or already sent do not
          change.
        </p>
      </Confirm>
    </>
  );
}
