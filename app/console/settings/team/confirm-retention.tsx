"use client";

import { Confirm } from "../../_ui/dialog/confirm";
import type { Fault } from "../../_ui/fault";
import { formatDays, type Retention } from "./retention-days";

type Props = {
  retention: Retention;
  isBusy: boolean;
  fault: Fault | null;
  onConfirm: () => void;
  onClose: () => void;
};

/** Confirms a retention change, with its consequences. */
export function ConfirmRetention({ retention: { bodiesDays, emailsDays }, onClose, ...confirm }: Props) {
  const isForever = bodiesDays === null && emailsDays === null;
  return (
    <Confirm
      open
      onOpenChange={onClose}
      title={isForever ? "Keep all email forever?" : "Delete old email?"}
      confirmLabel={isForever ? "Keep forever" : "Delete old email"}
      tone={isForever ? "plain" : "bad"}
      {...confirm}
    >
      {bodiesDays === null ? null : (
        <p>
          Text, HTML and attachments of emails older than{" "}
          <strong className="font-semibold text-ink">{formatDays(bodiesDays)}</strong> are deleted. For emails
          that are already older, this happens within minutes. You cannot send these emails again.
        </p>
      )}
      {emailsDays === null ? null : (
        <p>
          Emails older than <strong className="font-semibold text-ink">{formatDays(emailsDays)}</strong> are
          deleted with their recipients and history.
        </p>
      )}
      <p>
        {isForever
          ? "No email is deleted from now on. Deleted email cannot be restored."
          : "This cannot be undone. Sent email is kept for at least 14 days, because it can still bounce. Queued and held email is not deleted."}
      </p>
    </Confirm>
  );
}
