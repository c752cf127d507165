"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { WebhookEvent } from "#server/services/webhooks/events/types";
import { hourMs } from "#server/shared/durations";
import type { EndpointView } from "#server/trpc/webhooks/views";
import { Dialog } from "../../_ui/dialog/dialog";
import { DialogActions } from "../../_ui/dialog/dialog-actions";
import { faultOf } from "../../_ui/fault";
import { Button } from "../../_ui/form/button";
import { RadioCards, SelectField, SubmitButton, TextField } from "../../_ui/form/form";
import { FormFault } from "../../_ui/form/form-fault";
import { useFields } from "../../_ui/form/use-fields";
import { formatNumber } from "../../_ui/format-number";
import { FaultNote } from "../../_ui/text/notes";
import { useTRPC } from "../../_ui/trpc";
import { useParts } from "../../_ui/use-parts";
import { EVENT_NAMES } from "../events";
import type { EndpointDialogProps } from "./confirmations";

const STATUSES = [
  { value: "failed", label: "Failed", hint: "Events whose last attempt failed." },
  {
    value: "unfinished",
    label: "Failed and pending",
    hint: "Pending events are sent now instead of at their next attempt.",
  },
  { value: "success", label: "Succeeded", hint: "Your endpoint receives each event again." },
];

const SPANS = [
  { value: "hour", label: "Last hour" },
  { value: "day", label: "Last 24 hours" },
  { value: "week", label: "Last 7 days" },
  { value: "own", label: "Custom range" },
];
const TYPES = [{ value: "", label: "Any event" }, ...EVENT_NAMES];

/** Replays the events of a time range. Counts them first. */
export function ReplayRange({ teamId, endpoint, onClose }: EndpointDialogProps) {
  const [range, setRange] = useState<Range | null>(null);
  const trpc = useTRPC();
  const replay = useParts(0, [trpc.webhooks.get.queryKey(), trpc.webhooks.deliveries.queryKey()]);
  const { field, handleSubmit, watch, setError } = useFields({ defaultValues: EMPTY_RANGE });
  const isCustom = watch("span") === "own";
  const chooseRange = () => {
    setRange(null);
    replay.reset();
  };
  const submit = handleSubmit((fields) => {
    const chosen = parseRange(fields, Date.now());
    if (chosen) setRange(chosen);
    else setError("since", { message: "Enter a start time, and an end time after it." });
  });
  return (
    <Dialog
      onOpenChange={onClose}
      title="Replay events"
      description="Each event is sent with the same id and body, and with a new retry schedule."
      isPersistent={replay.state === "busy"}
    >
      {range ? (
        <Replay
          teamId={teamId}
          endpoint={endpoint}
          range={range}
          replay={replay}
          onBack={chooseRange}
          onClose={onClose}
        />
      ) : (
        <form onSubmit={submit} noValidate className="flex flex-col gap-5">
          <RadioCards label="Status" options={STATUSES} {...field("status")} />
          <SelectField label="Time range" options={SPANS} {...field("span")} />
          {isCustom ? (
            <div className="grid gap-4 md:grid-cols-2">
              <TextField label="From" type="datetime-local" {...field("since")} />
              <TextField
                label="Until"
                type="datetime-local"
                hint="Leave empty for now."
                {...field("until")}
              />
            </div>
          ) : null}
          <SelectField label="Event" options={TYPES} {...field("type")} />
          <DialogActions>
            <Button onClick={onClose}>Cancel</Button>
            <SubmitButton>Count events</SubmitButton>
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
  replay: ReturnType<typeof useParts<number>>;
  onBack: () => void;
  onClose: () => void;
};

function Replay({ teamId, endpoint, range, replay, onBack, onClose }: ReplayProps) {
  const trpc = useTRPC();
  const { data, error, refetch } = useQuery(
    trpc.webhooks.countRange.queryOptions(
      { team: teamId, id: endpoint.id, ...range },
      { gcTime: 0, staleTime: Number.POSITIVE_INFINITY },
    ),
  );
  const { mutateAsync } = useMutation(trpc.webhooks.replayRange.mutationOptions());
  const start = () =>
    replay.start(async (next, sum) => {
      const part = await mutateAsync({ team: teamId, id: endpoint.id, ...range, next });
      return { sum: sum + part.count, next: part.next };
    });
  const isBusy = replay.state === "busy";
  const back = <Button onClick={onBack}>Back</Button>;
  if (error && !data)
    return (
      <>
        <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} />
        <DialogActions>{back}</DialogActions>
      </>
    );
  const count = data?.count ?? 0;
  const total = data ? `${data.isAtLeast ? "at least " : ""}${formatCount(count)}` : "";
  return (
    <div className="flex flex-col gap-5">
      <div role="status" className="leading-6">
        {replay.state === "done" ? (
          <p>{formatCount(replay.sum)} queued for replay. The list shows the results.</p>
        ) : isBusy ? (
          <p>{formatCount(replay.sum)} queued so far…</p>
        ) : replay.state === "stopped" ? (
          <p>Stopped. {formatCount(replay.sum)} queued for replay. The others are not changed.</p>
        ) : data ? (
          <p>
            {count === 0
              ? "No matching events. Choose another time range."
              : `${total[0]?.toUpperCase()}${total.slice(1)} will be sent again to ${endpoint.endpoint}.`}
          </p>
        ) : (
          <p className="text-soft">Counting…</p>
        )}
      </div>
      {isBusy && count > 0 ? (
        <progress
          aria-label="Replayed"
          value={replay.sum}
          max={Math.max(count, replay.sum)}
          className="h-2 w-full accent-accent"
        />
      ) : null}
      <FormFault fault={replay.fault} />
      <DialogActions>
        {replay.state === "done" ? (
          <Button tone="primary" onClick={onClose}>
            Close
          </Button>
        ) : isBusy ? (
          <Button onClick={replay.stop}>Stop</Button>
        ) : (
          <>
            {back}
            <Button tone="primary" onClick={start} disabled={count === 0}>
              {replay.state === "ready" ? `Replay ${count === 0 ? "events" : total}` : "Continue"}
            </Button>
          </>
        )}
      </DialogActions>
    </div>
  );
}

const formatCount = (count: number): string => `${formatNumber(count)} ${count === 1 ? "event" : "events"}`;

/** The values of the range form. */
type RangeFields = {
  status: "failed" | "unfinished" | "success";
  span: "hour" | "day" | "week" | "own";
  /** Values of `datetime-local` fields, in the local time zone of the user. Empty `until`: now. */
  since: string;
  until: string;
  type: WebhookEvent | "";
};

const EMPTY_RANGE: RangeFields = { status: "failed", span: "day", since: "", until: "", type: "" };

type Range = {
  since: string;
  until: string;
  status: "failed" | "unfinished" | "success";
  type: WebhookEvent | null;
};

const HOURS = { hour: 1, day: 24, week: 168 };

/**
 * The range of the form. Its end is `nowMs` unless the form sets one. Null if a time is missing or out of
 * order.
 */
function parseRange({ status, span, since, until, type }: RangeFields, nowMs: number): Range | null {
  const sinceMs = span === "own" ? Date.parse(since) : nowMs - HOURS[span] * hourMs;
  const untilMs = span === "own" && until !== "" ? Date.parse(until) : nowMs;
  if (!Number.isFinite(sinceMs) || !Number.isFinite(untilMs) || untilMs <= sinceMs) return null;
  return {
    since: new Date(sinceMs).toISOString(),
    until: new Date(untilMs).toISOString(),
    status,
    type: type || null,
  };
}
