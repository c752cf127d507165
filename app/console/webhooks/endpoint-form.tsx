"use client";

import Link from "next/link";
import { type ReactNode, useEffect } from "react";
import type { WebhookEvent } from "#server/services/webhooks/events/types";
import { Dialog } from "../_ui/dialog/dialog";
import { SecretOnce } from "../_ui/dialog/secret-once";
import { ActionForm } from "../_ui/form/action-form";
import { Button } from "../_ui/form/button";
import { CheckboxField, Group, TextField } from "../_ui/form/form";
import { filled, useFields } from "../_ui/form/use-fields";
import { linkStyle } from "../_ui/styles";
import { useConsoleHref } from "../_ui/team";
import { useTRPC } from "../_ui/trpc";
import { type ActionState, useAction } from "../_ui/use-action";
import type { EndpointDialogProps } from "./[id]/confirmations";
import { describeEvent, EVENT_GROUPS, EVENT_NAMES, isSentEvent } from "./events";

type EndpointInput = { url: string; events: WebhookEvent[] };

const DEFAULT_EVENTS: WebhookEvent[] = [
  "email.delivered",
  "email.bounced",
  "email.complained",
  "email.failed",
];

/** Adds an endpoint, then shows its signing secret once. */
export function AddEndpoint({ teamId, onClose }: Omit<EndpointDialogProps, "endpoint">) {
  const trpc = useTRPC();
  const hrefOf = useConsoleHref();
  const adding = useAction(trpc.webhooks.create.mutationOptions({ gcTime: 0 }), {
    refresh: [trpc.webhooks.list.queryKey(), trpc.webhooks.heldUnknown.queryKey()],
  });
  const { result } = adding;
  if (result)
    return (
      <Dialog
        onOpenChange={onClose}
        title="Signing secret"
        description={
          <>
            Your program verifies requests with it.{" "}
            <Link href={hrefOf(`/console/webhooks/${result.id}`)} onClick={onClose} className={linkStyle}>
              The webhook page
            </Link>{" "}
            has sample code.
          </>
        }
        isPersistent
      >
        <SecretOnce secret={result.signingSecret} label="Signing secret" onStored={onClose} />
      </Dialog>
    );
  return (
    <Dialog onOpenChange={onClose} title="Add webhook" size="wide">
      <EndpointForm
        values={{ url: "", events: DEFAULT_EVENTS }}
        action={adding}
        submitLabel="Add webhook"
        onSubmit={(values) => adding.run({ team: teamId, ...values })}
        onCancel={onClose}
      />
    </Dialog>
  );
}

/** Changes the URL and the events of an endpoint. */
export function EditEndpoint({ teamId, endpoint, onClose }: EndpointDialogProps) {
  const trpc = useTRPC();
  const subscribed = endpoint.events as WebhookEvent[];
  // Events that Backstamp never sends have no checkbox. They stay as the API received them.
  const unsupported = subscribed.filter((name) => !isSentEvent(name));
  const editing = useAction(trpc.webhooks.update.mutationOptions(), {
    done: "Webhook updated",
    refresh: [trpc.webhooks.get.queryKey(), trpc.webhooks.list.queryKey()],
    onDone: onClose,
  });
  return (
    <Dialog
      onOpenChange={onClose}
      title="Edit webhook"
      description="A new URL resets the failure count and the status."
      size="wide"
    >
      <EndpointForm
        values={{ url: endpoint.endpoint, events: subscribed.filter(isSentEvent) }}
        action={editing}
        submitLabel="Save"
        onSubmit={({ url, events }) =>
          editing.run({
            team: teamId,
            id: endpoint.id,
            events: [...events, ...unsupported],
            // Updating the URL, even to the same value, resets the failure count.
            ...(url.trim() === endpoint.endpoint ? {} : { url }),
          })
        }
        onCancel={onClose}
      >
        {unsupported.length > 0 ? (
          <p className="text-soft text-xs leading-5">
            It also subscribes to {unsupported.length} events that Backstamp never sends. They are not
            changed.
          </p>
        ) : null}
      </EndpointForm>
    </Dialog>
  );
}

type FormProps = {
  values: EndpointInput;
  action: ActionState;
  submitLabel: string;
  onSubmit: (values: EndpointInput) => void;
  onCancel: () => void;
  children?: ReactNode;
};

/** How the server's error about the URL begins. The error is then shown at the field. */
const ABOUT_URL = "URL: ";

/** The URL and the events, for a new endpoint and for an existing one. */
function EndpointForm({ values, action, submitLabel, onSubmit, onCancel, children }: FormProps) {
  const { register, field, handleSubmit, formState, setValue, setFocus, watch } = useFields({
    defaultValues: values,
  });
  const { fault, isBusy } = action;
  const urlFault = fault?.message.startsWith(ABOUT_URL) ? fault.message.slice(ABOUT_URL.length) : null;
  useEffect(() => {
    if (urlFault !== null) setFocus("url");
  }, [urlFault, setFocus]);
  const url = field("url", filled("Enter a URL."));
  const rules = { validate: (events: string[]) => events.length > 0 || "Select at least one event." };
  const isAll = EVENT_NAMES.every((name) => watch("events").includes(name));
  return (
    <ActionForm
      onSubmit={handleSubmit(onSubmit)}
      action={{ isBusy, fault: urlFault === null ? fault : null }}
      onCancel={onCancel}
      submitLabel={submitLabel}
    >
      <TextField
        label="URL"
        hint="A public HTTPS URL. Each event is sent as a signed POST request with a JSON body."
        placeholder="https://example.com/hooks/mail"
        inputMode="url"
        autoComplete="off"
        spellCheck={false}
        maxLength={2_048}
        isMono
        {...url}
        error={url.error ?? urlFault}
      />
      <Group legend="Events" error={formState.errors.events}>
        <div className="grid gap-x-6 gap-y-5 md:grid-cols-2">
          {EVENT_GROUPS.map(({ group, events }) => (
            <fieldset key={group} className="flex min-w-0 flex-col gap-2.5">
              <legend className="mb-2 text-soft text-xs">{group}</legend>
              {events.map((name) => (
                <CheckboxField
                  key={name}
                  value={name}
                  label={<code className="font-mono font-normal text-xs">{name}</code>}
                  hint={describeEvent(name)}
                  {...register("events", rules)}
                />
              ))}
            </fieldset>
          ))}
        </div>
        <Button
          tone="quiet"
          isSmall
          onClick={() => setValue("events", isAll ? [] : [...EVENT_NAMES], { shouldDirty: true })}
          className="self-start"
        >
          {isAll ? "Clear all" : "Select all"}
        </Button>
      </Group>
      {children}
    </ActionForm>
  );
}
