"use client";

import { skipToken, useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { Dialog, DialogActions } from "../../_ui/dialog/dialog";
import { SubmitButton, TextField } from "../../_ui/form/form";
import { FormFault } from "../../_ui/form/form-fault";
import { buttonStyle } from "../../_ui/styles";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import type { EmailDialogProps } from "./email-actions";

/** Reschedules an email by a date field in the user's time zone, or by text in the format of the API. */
export function RescheduleDialog({ teamId, email, open, onOpenChange }: EmailDialogProps) {
  const trpc = useTRPC();
  const [date, setDate] = useState("");
  const [typed, setTyped] = useState("");
  const picked = date === "" ? null : new Date(date);
  const text = typed.trim() || (picked && !Number.isNaN(picked.getTime()) ? picked.toISOString() : "");
  const deferredText = useDeferredValue(text);
  const { data: parsed } = useQuery(
    trpc.emails.readTime.queryOptions(
      deferredText === "" ? skipToken : { team: teamId, text: deferredText },
      {
        retry: false,
      },
    ),
  );
  const { run, isBusy, fault } = useAction(trpc.emails.reschedule.mutationOptions(), {
    done: "Rescheduled",
    refresh: [trpc.emails.pathKey()],
    onDone: () => onOpenChange(false),
  });
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title="Reschedule email">
      <form
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          run({ team: teamId, id: email.id, at: text });
        }}
      >
        <TextField
          label="Send at"
          type="datetime-local"
          hint="In your local time zone."
          value={date}
          onChange={({ target }) => {
            setDate(target.value);
            setTyped("");
          }}
        />
        <TextField
          label="Or as text"
          placeholder="in 2 hours, tomorrow at 9am"
          hint="In UTC unless you specify a time zone. At most 30 days from now."
          maxLength={100}
          value={typed}
          onChange={({ target }) => {
            setTyped(target.value);
            setDate("");
          }}
          error={text !== "" && parsed?.fault ? parsed.fault : undefined}
        />
        <p role="status" className="min-h-5">
          {text !== "" && parsed?.at ? (
            <>
              The email will be sent on <strong>{new Date(parsed.at).toLocaleString("en-GB", LONG)}</strong>.
            </>
          ) : null}
        </p>
        {fault ? <FormFault fault={fault} /> : null}
        <DialogActions>
          <button type="button" onClick={() => onOpenChange(false)} className={`${buttonStyle.plain} h-10`}>
            Keep schedule
          </button>
          <SubmitButton isBusy={isBusy} disabled={text === ""}>
            Reschedule
          </SubmitButton>
        </DialogActions>
      </form>
    </Dialog>
  );
}

const LONG = {
  weekday: "long",
  day: "numeric",
  month: "long",
  hour: "2-digit",
  minute: "2-digit",
  timeZoneName: "short",
} as const;
