"use client";

import { Ban, RotateCcw, X } from "lucide-react";
import { useState } from "react";
import type { EmailRow } from "#server/trpc/emails/views";
import { Confirm } from "../_ui/dialog/confirm";
import { Button } from "../_ui/form/button";
import { formatNumber } from "../_ui/format-number";
import { useDisabledReason } from "../_ui/page/permission";
import { iconButtonStyle } from "../_ui/styles";
import { useTRPC } from "../_ui/trpc";
import { useAction } from "../_ui/use-action";
import type { Selection } from "./email-rows";

type Props = { teamId: string; rows: readonly EmailRow[]; selection: Selection };

const formatEmails = (count: number) => `${formatNumber(count)} ${count === 1 ? "email" : "emails"}`;

/** The actions for the selected emails, at the bottom of the window. Hidden if none is selected. */
export function SelectionBar({ teamId, rows, selection }: Props) {
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
          <X className="size-4" aria-hidden="true" />
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
