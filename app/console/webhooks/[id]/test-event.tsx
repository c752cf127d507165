"use client";

import { useQuery } from "@tanstack/react-query";
import { LoaderCircle } from "lucide-react";
import Link from "next/link";
import { useState } from "react";
import type { WebhookEvent } from "#server/services/webhooks/events/types";
import { FormDialog } from "../../_ui/dialog/form-dialog";
import { faultOf } from "../../_ui/fault";
import { SelectField } from "../../_ui/form/form";
import { FormFault } from "../../_ui/form/form-fault";
import { linkStyle } from "../../_ui/styles";
import { useConsoleHref } from "../../_ui/team";
import { BodyBlock } from "../../_ui/text/code-block";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { ResponseBadge } from "../badges";
import type { EndpointDialogProps } from "./confirmations";

/** An attempt can take 15 seconds. The dialog refetches until it has a response. */
const refetchMs = 500;

/** Sends a test event to an endpoint and shows the response. */
export function TestEvent({ teamId, endpoint, onClose }: EndpointDialogProps) {
  const trpc = useTRPC();
  const events = endpoint.events as WebhookEvent[];
  const [type, setType] = useState<WebhookEvent | undefined>(events[0]);
  const testing = useAction(trpc.webhooks.test.mutationOptions(), {
    refresh: [trpc.webhooks.get.queryKey(), trpc.webhooks.deliveries.queryKey()],
  });
  const { result } = testing;
  return (
    <FormDialog
      onClose={onClose}
      title="Send test event"
      description="A signed event with sample data and data.test: true."
      onSubmit={() => type && testing.run({ team: teamId, id: endpoint.id, type })}
      action={testing}
      cancelLabel="Close"
      submitLabel={result ? "Send another" : "Send"}
    >
      <SelectField
        label="Event"
        value={type}
        options={events}
        onChange={({ target }) => setType(events.find((name) => name === target.value))}
      />
      {result ? <Outcome key={result.id} teamId={teamId} id={endpoint.id} event={result.id} /> : null}
    </FormDialog>
  );
}

function Outcome({ teamId, id, event }: { teamId: string; id: string; event: string }) {
  const trpc = useTRPC();
  const hrefOf = useConsoleHref();
  const { data, error } = useQuery(
    trpc.webhooks.delivery.queryOptions(
      { team: teamId, id, event },
      {
        refetchInterval: ({ state }) => (state.data?.attemptPage.rows[0] || state.error ? false : refetchMs),
      },
    ),
  );
  const attempt = data?.attemptPage.rows[0];
  return (
    <div role="status" className="flex flex-col gap-3 rounded-lg border border-line p-4">
      {attempt ? (
        <>
          <p className="flex flex-wrap items-center gap-2">
            Response: <ResponseBadge of={attempt} />
            <span className="text-soft">after {attempt.duration_ms} ms</span>
          </p>
          {attempt.response ? <BodyBlock text={attempt.response} label="Response body" /> : null}
          {attempt.next_attempt_at ? (
            <p className="text-soft">
              Next attempt <When isDue at={attempt.next_attempt_at} />.
            </p>
          ) : null}
        </>
      ) : error ? (
        <FormFault fault={faultOf(error)} />
      ) : (
        <p className="flex items-center gap-2 text-soft">
          <LoaderCircle className="size-4 shrink-0 motion-safe:animate-spin" aria-hidden="true" /> Sending.
          The attempt continues if you close this dialog. It is listed in the event deliveries.
        </p>
      )}
      {attempt || error ? (
        <Link href={hrefOf(`/console/webhooks/${id}/events/${event}`)} className={`${linkStyle} self-start`}>
          View event delivery
        </Link>
      ) : null}
    </div>
  );
}
