"use client";

import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useForm } from "react-hook-form";
import type { EndpointView } from "#server/trpc/webhook-views";
import { Dialog, DialogActions } from "../../_ui/dialog";
import { faultOf } from "../../_ui/fault";
import { RadioCards, SelectField, SubmitButton, TextField } from "../../_ui/form";
import { FormFault } from "../../_ui/form-fault";
import { FaultNote } from "../../_ui/notes";
import { buttonStyle } from "../../_ui/styles";
import { useTRPC } from "../../_ui/trpc";
import { EVENT_NAMES } from "../events";
import type { EndpointDialogProps } from "./actions";
import { EMPTY_RANGE, type Range, type RangeFields, rangeOf } from "./range";
import { useReplay } from "./use-replay";

const WHICH = [
  { value: "failed", label: "What was given up", hint: "Events of which no call succeeded." },
  { value: "success", label: "What was taken", hint: "Your program gets each of them a second time." },
];

/** Sends again what an endpoint was told in a span of time, after telling how much that is. */
export function ReplayRange({ teamId, endpoint, open, onOpenChange }: EndpointDialogProps) {
  const form = useForm<RangeFields>({ defaultValues: EMPTY_RANGE });
  const [range, setRange] = useState<Range | null>(null);
  const [isRunning, setRunning] = useState(false);
  const { register, handleSubmit, watch, setError, formState } = form;
  const isOwn = watch("span") === "own";
  const close = () => {
    onOpenChange(false);
    setRange(null);
  };
  const look = handleSubmit((fields) => {
    const chosen = rangeOf(fields, Date.now());
    if (chosen) setRange(chosen);
    else setError("since", { message: "Give a time, and one after it." });
  });
  return (
    <Dialog
      open={open}
      onOpenChange={close}
      title="Replay a range"
      description="Each event is sent with the same id and body as before, with all its tries ahead of it."
      isKept={isRunning}
    >
      {range ? (
        <Replay
          teamId={teamId}
          endpoint={endpoint}
          range={range}
          onBack={() => setRange(null)}
          onClose={close}
          onRunning={setRunning}
        />
      ) : (
        <form onSubmit={look} noValidate className="flex flex-col gap-5">
          <RadioCards label="Which events?" options={WHICH} {...register("status")} />
          <SelectField label="Of which time?" {...register("span")}>
            <option value="hour">The last hour</option>
            <option value="day">The last day</option>
            <option value="week">The last week</option>
            <option value="own">Times of your choice</option>
          </SelectField>
          {isOwn ? (
            <div className="grid gap-4 md:grid-cols-2">
              <TextField
                label="Since"
                type="datetime-local"
                error={formState.errors.since}
                {...register("since")}
              />
              <TextField label="Until" type="datetime-local" hint="Empty means now." {...register("until")} />
            </div>
          ) : null}
          <SelectField label="Event" {...register("type")}>
            <option value="">Any event</option>
            {EVENT_NAMES.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </SelectField>
          <DialogActions>
            <button type="button" onClick={close} className={`${buttonStyle.plain} h-10`}>
              Cancel
            </button>
            <SubmitButton>Count them</SubmitButton>
          </DialogActions>
        </form>
      )}
    </Dialog>
  );
}

type ReplayProps = {
  teamId: string;
  endpoint: EndpointView;
  range: Range;
  onBack: () => void;
  onClose: () => void;
  /** Told whether parts are under way, which no slip of the hand may end. */
  onRunning: (isRunning: boolean) => void;
};

function Replay({ teamId, endpoint, range, onBack, onClose, onRunning }: ReplayProps) {
  const trpc = useTRPC();
  const { data, error, refetch } = useQuery(
    trpc.webhooks.countRange.queryOptions(
      { team: teamId, id: endpoint.id, ...range },
      { gcTime: 0, staleTime: Number.POSITIVE_INFINITY },
    ),
  );
  const replay = useReplay({ teamId, id: endpoint.id, range });
  const isBusy = replay.state === "busy";
  useEffect(() => {
    onRunning(isBusy);
    return () => onRunning(false);
  }, [isBusy, onRunning]);
  const back = (
    <button type="button" onClick={onBack} className={`${buttonStyle.plain} h-10`}>
      Back
    </button>
  );
  if (error && !data)
    return (
      <>
        <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} />
        <DialogActions>{back}</DialogActions>
      </>
    );
  const all = data?.count ?? 0;
  const many = data ? `${data.isAtLeast ? "at least " : ""}${sayCount(all)}` : "";
  return (
    <div className="flex flex-col gap-5">
      <div role="status" className="leading-6">
        {replay.state === "done" ? (
          <p>
            {sayCount(replay.count)} {replay.count === 1 ? "is" : "are"} on the way again. The list shows what
            they come to.
          </p>
        ) : isBusy ? (
          <p>{sayCount(replay.count)} so far …</p>
        ) : replay.state === "stopped" ? (
          <p>
            Stopped. {sayCount(replay.count)} {replay.count === 1 ? "is" : "are"} on the way again; the rest
            stays as it was.
          </p>
        ) : data ? (
          <p>
            {all === 0
              ? "No event of that time fits. Choose another time."
              : `${many[0]?.toUpperCase()}${many.slice(1)} would be sent again to ${endpoint.url}.`}
          </p>
        ) : (
          <p className="text-soft">Counting …</p>
        )}
      </div>
      {isBusy && all > 0 ? (
        <progress
          aria-label="Replayed"
          value={replay.count}
          max={Math.max(all, replay.count)}
          className="h-2 w-full accent-accent"
        />
      ) : null}
      <FormFault fault={replay.fault} />
      <DialogActions>
        {replay.state === "done" ? (
          <button type="button" onClick={onClose} className={`${buttonStyle.primary} h-10`}>
            Close
          </button>
        ) : isBusy ? (
          <button type="button" onClick={replay.stop} className={`${buttonStyle.plain} h-10`}>
            Stop
          </button>
        ) : (
          <>
            {back}
            <button
              type="button"
              onClick={replay.start}
              disabled={all === 0}
              className={`${buttonStyle.primary} h-10`}
            >
              {replay.state === "ready" ? `Replay ${all === 0 ? "them" : many}` : "Go on"}
            </button>
          </>
        )}
      </DialogActions>
    </div>
  );
}

const sayCount = (count: number): string => `${count} ${count === 1 ? "event" : "events"}`;
