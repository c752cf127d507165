import { useEffect } from "react";
import type { UseFormReturn } from "react-hook-form";
import type { WebhookEvent } from "#server/services/webhooks/events/types";
import type { Fault } from "../_ui/fault";
import { CheckboxField, TextField } from "../_ui/form/form";
import { buttonStyle } from "../_ui/styles";
import { EVENT_GROUPS, EVENT_LABELS, EVENT_NAMES } from "./events";

/** The values of the endpoint form. */
export type EndpointInput = { url: string; events: WebhookEvent[] };
export type EndpointForm = UseFormReturn<EndpointInput>;

/** The URL and the events, for a new endpoint and for an existing one. */
export function EndpointFields({ form, fault }: { form: EndpointForm; fault: Fault | null }) {
  const { register, formState, setValue, setFocus, watch } = form;
  const urlFault = urlFaultOf(fault);
  useEffect(() => {
    if (urlFault !== null) setFocus("url");
  }, [urlFault, setFocus]);
  const { errors } = formState;
  const rules = { validate: (events: string[]) => events.length > 0 || "Select at least one event." };
  const isAll = EVENT_NAMES.every((name) => watch("events").includes(name));
  return (
    <>
      <TextField
        label="URL"
        hint="A public HTTPS URL. Each event is sent as a signed POST request with a JSON body."
        placeholder="https://example.com/hooks/mail"
        inputMode="url"
        autoComplete="off"
        spellCheck={false}
        maxLength={2_048}
        isMono
        error={errors.url ?? urlFault}
        {...register("url", { validate: (text) => text.trim() !== "" || "Enter a URL." })}
      />
      <fieldset className="flex min-w-0 flex-col gap-4 rounded-lg border border-line p-4">
        <legend className="px-1 font-medium">Events</legend>
        {errors.events ? (
          <p role="alert" className="text-bad text-xs">
            {errors.events.message}
          </p>
        ) : null}
        <div className="grid gap-x-6 gap-y-5 md:grid-cols-2">
          {EVENT_GROUPS.map(({ group, events }) => (
            <fieldset key={group} className="flex min-w-0 flex-col gap-2.5">
              <legend className="mb-2 text-soft text-xs">{group}</legend>
              {events.map((name) => (
                <CheckboxField
                  key={name}
                  value={name}
                  label={<code className="font-mono font-normal text-xs">{name}</code>}
                  hint={EVENT_LABELS[name].description}
                  {...register("events", rules)}
                />
              ))}
            </fieldset>
          ))}
        </div>
        <button
          type="button"
          onClick={() => setValue("events", isAll ? [] : [...EVENT_NAMES], { shouldDirty: true })}
          className={`${buttonStyle.quiet} h-9 self-start`}
        >
          {isAll ? "Clear all" : "Select all"}
        </button>
      </fieldset>
    </>
  );
}

const ABOUT_URL = "Invalid `endpoint`: ";

/** The server error about the URL, shown at its field. Null for any other error. */
export const urlFaultOf = (fault: Fault | null): string | null =>
  fault?.message.startsWith(ABOUT_URL) ? fault.message.slice(ABOUT_URL.length) : null;
