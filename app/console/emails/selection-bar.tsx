"use client";

import { Ban, RotateCcw, X } from "lucide-react";
import { useState } from "react";
import type { EmailRow } from "#server/trpc/email-views";
import { ActButton } from "../_ui/act-button";
import { Confirm } from "../_ui/confirm";
import { useWhyNot } from "../_ui/no-right";
import { buttonStyle, iconButtonStyle } from "../_ui/styles";
import { sayDone } from "../_ui/toasts";
import { useTRPC } from "../_ui/trpc";
import { useAct } from "../_ui/use-act";
import type { Selection } from "./selection";

type Props = { teamId: string; rows: readonly EmailRow[]; selection: Selection };

const mails = (count: number) => `${count} ${count === 1 ? "mail" : "mails"}`;

/** What can be done with the chosen mails, at the foot of the window while there are any. */
export function SelectionBar({ teamId, rows, selection }: Props) {
  const trpc = useTRPC();
  const [asked, setAsked] = useState<"retry" | "cancel" | null>(null);
  const whyNot = useWhyNot()("emails:send", "retry or cancel mail");
  const count = selection.ids.size;
  const end = () => {
    setAsked(null);
    selection.clear();
  };
  const refresh = [trpc.emails.pathKey()];
  const retry = useAct(trpc.emails.retrySelected.mutationOptions(), {
    refresh,
    done: (result) =>
      result.mails === 0
        ? "None of them could be retried: nothing in them failed, bounced or is deferred."
        : `${mails(result.mails)} back in the queue${result.mails < count ? `; ${count - result.mails} had nothing to retry` : ""}`,
    onDone: end,
  });
  const cancel = useAct(trpc.emails.cancelSelected.mutationOptions(), {
    refresh,
    onDone: ({ canceled, refused }) => {
      sayDone(
        `${mails(canceled.length)} canceled${refused.length > 0 ? `; ${refused.length} no longer could be` : ""}`,
      );
      end();
    },
  });
  if (count === 0) return null;
  const ids = [...selection.ids];
  const unknown = rows.filter(({ id, status }) => selection.ids.has(id) && status === "unknown").length;
  return (
    <>
      <div
        role="toolbar"
        aria-label="Chosen mails"
        className="sticky bottom-4 z-20 mx-auto mt-4 flex w-fit max-w-full flex-wrap items-center gap-1 rounded-xl border border-line bg-page p-1.5 pl-4 shadow-lg"
      >
        <span className="mr-2 font-medium" role="status">
          {mails(count)} chosen
        </span>
        <ActButton
          whyNot={whyNot}
          onClick={() => setAsked("retry")}
          className={`${buttonStyle.quiet} h-9 text-ink`}
        >
          <RotateCcw className="size-4" aria-hidden="true" /> Retry…
        </ActButton>
        <ActButton
          whyNot={whyNot}
          onClick={() => setAsked("cancel")}
          className={`${buttonStyle.quiet} h-9 text-ink`}
        >
          <Ban className="size-4" aria-hidden="true" /> Cancel…
        </ActButton>
        <button type="button" onClick={selection.clear} aria-label="Choose none" className={iconButtonStyle}>
          <X className="size-4" aria-hidden="true" />
        </button>
      </div>
      <Confirm
        open={asked === "retry"}
        onOpenChange={(open) => !open && setAsked(null)}
        title={`Retry ${mails(count)}?`}
        confirmLabel={`Retry ${mails(count)}`}
        tone="plain"
        isBusy={retry.isBusy}
        fault={retry.fault}
        onConfirm={() => retry.act({ team: teamId, ids, acceptDuplicates: false })}
      >
        <p>
          Each is sent again now to those of its recipients where it failed, bounced or is deferred. Whoever
          has it is not written to again.
        </p>
        {unknown > 0 ? (
          <p>
            {mails(unknown)} of unknown outcome stay as they are: they may have arrived. Open one to decide
            what becomes of it.
          </p>
        ) : null}
      </Confirm>
      <Confirm
        open={asked === "cancel"}
        onOpenChange={(open) => !open && setAsked(null)}
        title={`Cancel ${mails(count)}?`}
        confirmLabel={`Cancel ${mails(count)}`}
        wayOutLabel={count === 1 ? "Keep it" : "Keep them"}
        isBusy={cancel.isBusy}
        fault={cancel.fault}
        onConfirm={() => cancel.act({ team: teamId, ids })}
      >
        <p>Scheduled mail is called off for good. What is under way already, or was sent, stays as it is.</p>
      </Confirm>
    </>
  );
}
