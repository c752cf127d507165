"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Dialog } from "../../_ui/dialog/dialog";
import { ActionForm } from "../../_ui/form/action-form";
import { TextAreaField } from "../../_ui/form/form";
import { useSettled } from "../../_ui/form/use-settled";
import { formatCount } from "../../_ui/format-number";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { Accepted } from "../../overview/setup/accepted";
import type { EmailDialogProps } from "./dialogs";

const FIELDS = [
  ["to", "To"],
  ["cc", "Cc"],
  ["bcc", "Bcc"],
] as const;

/** Delay after the last key press, before the recipients are checked. */
const settleMs = 350;

const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

const recipientsIn = ({ to, cc, bcc }: Record<(typeof FIELDS)[number][0], string>) => ({
  to: linesOf(to),
  cc: linesOf(cc),
  bcc: linesOf(bcc),
});

/** Sends a new email with the same content. The recipients can be changed. */
export function SendAgainDialog(props: EmailDialogProps) {
  return (
    <Dialog
      onOpenChange={props.onClose}
      title="Send again as new"
      description="This sends a new email with the same content, also to recipients who received this one. This email does not change."
    >
      <SendAgainForm {...props} />
    </Dialog>
  );
}

function SendAgainForm({ teamId, email, onClose }: EmailDialogProps) {
  const trpc = useTRPC();
  const [texts, setTexts] = useState(() => ({
    to: email.to.join("\n"),
    cc: email.cc.join("\n"),
    bcc: email.bcc.join("\n"),
  }));
  const recipients = recipientsIn(texts);
  // Not when a field loses the focus: a notice that appears or disappears during a click moves the button.
  const checked = recipientsIn(useSettled(texts, settleMs));
  const { data: suppressed = [] } = useQuery(
    trpc.emails.suppressedRecipients.queryOptions(
      { team: teamId, id: email.id, ...checked },
      { placeholderData: keepPreviousData, staleTime: 0, retry: false },
    ),
  );
  const [attempt, setAttempt] = useState({ of: "", repeatKey: "" });
  const action = useAction(trpc.emails.sendAgain.mutationOptions(), { refresh: [trpc.emails.pathKey()] });
  if (action.result) return <Accepted {...action.result} linkLabel="View the new email" onClose={onClose} />;
  const count = recipients.to.length + recipients.cc.length + recipients.bcc.length;
  // For a moment after a change of the recipients, those that were checked are the previous ones.
  const sentCount = Math.max(0, count - suppressed.length);
  const send = () => {
    // Repeated after a lost response, the call returns the email that it has made.
    const of = JSON.stringify(recipients);
    const repeatKey = attempt.of === of ? attempt.repeatKey : randomKey();
    setAttempt({ of, repeatKey });
    action.run({ team: teamId, id: email.id, ...recipients, repeatKey });
  };
  return (
    <ActionForm
      onSubmit={send}
      action={action}
      onCancel={onClose}
      submitLabel={`Send new email to ${formatCount(sentCount, "recipient")}`}
      disabled={recipients.to.length === 0}
    >
      {FIELDS.map(([name, label]) =>
        name === "to" || email[name].length > 0 ? (
          <TextAreaField
            key={name}
            label={label}
            hint={name === "to" ? "One address per line." : undefined}
            rows={Math.min(6, Math.max(2, email[name].length))}
            spellCheck={false}
            value={texts[name]}
            onChange={({ target }) => setTexts({ ...texts, [name]: target.value })}
          />
        ) : null,
      )}
      {suppressed.length > 0 ? (
        <div role="status" className="rounded-lg bg-warn-tint px-3.5 py-2.5 text-warn leading-6">
          <p>
            {suppressed.length} of {formatCount(count, "recipient")} {suppressed.length === 1 ? "is" : "are"}{" "}
            suppressed. Nothing is sent to:
          </p>
          <ul>
            {suppressed.map((address) => (
              <li key={address} className="wrap-anywhere">
                {address}
              </li>
            ))}
          </ul>
        </div>
      ) : null}
    </ActionForm>
  );
}

/** Browsers have `randomUUID` only in secure contexts. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );
