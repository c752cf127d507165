"use client";

import { Confirm } from "../../_ui/confirm";
import type { Fault } from "../../_ui/fault";
import { type Kept, wordsOf } from "./kept-days";

type Props = { kept: Kept; isBusy: boolean; fault: Fault | null; onConfirm: () => void; onClose: () => void };

/** Says what a rule will do before it does it. */
export function ConfirmKeeping({ kept: { bodiesDays, emailsDays }, onClose, ...confirm }: Props) {
  const isForGood = bodiesDays === null && emailsDays === null;
  return (
    <Confirm
      open
      onOpenChange={onClose}
      title={isForGood ? "Keep all mail for good?" : "Take old mail away?"}
      confirmLabel={isForGood ? "Keep it for good" : "Take old mail away"}
      tone={isForGood ? "plain" : "bad"}
      {...confirm}
    >
      {bodiesDays === null ? null : (
        <p>
          Text, HTML and files of mails that are older than{" "}
          <strong className="font-semibold text-ink">{wordsOf(bodiesDays)}</strong> are erased, within minutes
          for those that are that old already. Such a mail cannot be sent again.
        </p>
      )}
      {emailsDays === null ? null : (
        <p>
          Mails that are older than <strong className="font-semibold text-ink">{wordsOf(emailsDays)}</strong>{" "}
          are deleted, with their recipients and their history.
        </p>
      )}
      <p>
        {isForGood
          ? "Nothing is taken away from now on. What is gone does not come back."
          : "Nothing of it comes back. Mail that was sent is kept for fourteen days at least, since it may still bounce; what waits or is held stays."}
      </p>
    </Confirm>
  );
}
