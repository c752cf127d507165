"use client";

import { useQuery } from "@tanstack/react-query";
import { LoaderCircle } from "lucide-react";
import Link from "next/link";
import { useState } from "react";
import type { WebhookEvent } from "#server/services/webhooks/event-types";
import { Badge } from "../../_ui/badge";
import { CodeBlock } from "../../_ui/code-block";
import { Dialog, DialogActions } from "../../_ui/dialog";
import { faultOf } from "../../_ui/fault";
import { SelectField, SubmitButton } from "../../_ui/form";
import { FormFault } from "../../_ui/form-fault";
import { buttonStyle, linkStyle } from "../../_ui/styles";
import { useConsoleHref } from "../../_ui/team";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import { When } from "../../_ui/when";
import { sayAnswer, toneOfAnswer } from "../words";
import type { EndpointDialogProps } from "./actions";

/** A call may take a quarter of a minute, and the test is looked at all along. */
const lookAgainMs = 500;

/** Sends an endpoint a made-up event and shows what it answers, as soon as it does. */
export function TestEvent({ teamId, endpoint, open, onOpenChange }: EndpointDialogProps) {
  const trpc = useTRPC();
  const events = endpoint.events as WebhookEvent[];
  const [type, setType] = useState<WebhookEvent | undefined>(events[0]);
  const testing = useAct(trpc.webhooks.test.mutationOptions(), {
    refresh: [trpc.webhooks.get.queryKey(), trpc.webhooks.deliveries.queryKey()],
  });
  const close = () => {
    onOpenChange(false);
    testing.reset();
  };
  const { result, fault } = testing;
  return (
    <Dialog
      open={open}
      onOpenChange={close}
      title="Send a test event"
      description="Made up, marked by data.test, and signed like every other."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (type) testing.act({ team: teamId, id: endpoint.id, type });
        }}
        className="flex flex-col gap-5"
      >
        <SelectField
          label="Event"
          value={type}
          onChange={({ target }) => setType(events.find((name) => name === target.value))}
        >
          {events.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </SelectField>
        <FormFault fault={fault} />
        {result ? <Outcome key={result.id} teamId={teamId} id={endpoint.id} event={result.id} /> : null}
        <DialogActions>
          <button type="button" onClick={close} className={`${buttonStyle.plain} h-10`}>
            Close
          </button>
          <SubmitButton isBusy={testing.isBusy}>{result ? "Send another" : "Send"}</SubmitButton>
        </DialogActions>
      </form>
    </Dialog>
  );
}

function Outcome({ teamId, id, event }: { teamId: string; id: string; event: string }) {
  const trpc = useTRPC();
  const hrefOf = useConsoleHref();
  const { data, error } = useQuery(
    trpc.webhooks.delivery.queryOptions(
      { team: teamId, id, event },
      { refetchInterval: ({ state }) => (state.data?.calls[0] || state.error ? false : lookAgainMs) },
    ),
  );
  const call = data?.calls[0];
  const link = (text: string) => (
    <Link href={hrefOf(`/console/webhooks/${id}/events/${event}`)} className={`${linkStyle} self-start`}>
      {text}
    </Link>
  );
  return (
    <div role="status" className="flex flex-col gap-3 rounded-lg border border-line p-4">
      {call ? (
        <>
          <p className="flex flex-wrap items-center gap-2">
            It answered <Badge tone={toneOfAnswer(call)}>{sayAnswer(call)}</Badge>
            <span className="text-soft">after {call.durationMs} ms</span>
          </p>
          {call.answer ? <CodeBlock text={call.answer} label="Its answer" /> : null}
          {call.nextAttemptAt ? (
            <p className="text-soft">
              It is tried again <When at={call.nextAttemptAt} />.
            </p>
          ) : null}
          {link("All that was sent")}
        </>
      ) : error ? (
        <>
          <FormFault fault={faultOf(error)} />
          {link("See what became of it")}
        </>
      ) : (
        <p className="flex items-center gap-2 text-soft">
          <LoaderCircle className="size-4 shrink-0 motion-safe:animate-spin" aria-hidden="true" /> On its way.
          It goes on where this is closed, and stands among the webhook's events.
        </p>
      )}
    </div>
  );
}
