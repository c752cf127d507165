"use client";

import { skipToken, useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { Dialog, DialogActions } from "../../_ui/dialog";
import { SubmitButton, TextField } from "../../_ui/form";
import { FormFault } from "../../_ui/form-fault";
import { buttonStyle } from "../../_ui/styles";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import type { ActProps } from "./acts";

/** Moves a scheduled mail: by the calendar, in the reader's own zone, or in words as the API takes them. */
export function RescheduleDialog({ teamId, email, open, onOpenChange }: ActProps) {
  const trpc = useTRPC();
  const [moment, setMoment] = useState("");
  const [words, setWords] = useState("");
  const picked = moment === "" ? null : new Date(moment);
  const text = words.trim() || (picked && !Number.isNaN(picked.getTime()) ? picked.toISOString() : "");
  const asked = useDeferredValue(text);
  const { data: read } = useQuery(
    trpc.emails.readTime.queryOptions(asked === "" ? skipToken : { team: teamId, text: asked }, {
      retry: false,
    }),
  );
  const { act, isBusy, fault } = useAct(trpc.emails.reschedule.mutationOptions(), {
    done: "Rescheduled",
    refresh: [trpc.emails.pathKey()],
    onDone: () => onOpenChange(false),
  });
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title="When shall it go out?">
      <form
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          act({ team: teamId, id: email.id, at: text });
        }}
      >
        <TextField
          label="Day and time"
          type="datetime-local"
          hint="In the time zone of this computer."
          value={moment}
          onChange={({ target }) => {
            setMoment(target.value);
            setWords("");
          }}
        />
        <TextField
          label="Or in words"
          placeholder="in 2 hours, tomorrow at 9am"
          hint="Without a zone named it is read in UTC. At most 30 days ahead."
          maxLength={100}
          value={words}
          onChange={({ target }) => {
            setWords(target.value);
            setMoment("");
          }}
          error={text !== "" && read?.fault ? read.fault : undefined}
        />
        <p role="status" className="min-h-5">
          {text !== "" && read?.at ? (
            <>
              It goes out on <strong>{new Date(read.at).toLocaleString("en-GB", LONG)}</strong>.
            </>
          ) : null}
        </p>
        {fault ? <FormFault fault={fault} /> : null}
        <DialogActions>
          <button type="button" onClick={() => onOpenChange(false)} className={`${buttonStyle.plain} h-10`}>
            Leave it
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
