"use client";

import { useQuery } from "@tanstack/react-query";
import { FormDialog } from "../_ui/dialog/form-dialog";
import { shownFaultOf } from "../_ui/fault";
import { TextField } from "../_ui/form/form";
import { useFields } from "../_ui/form/use-fields";
import { useSettled } from "../_ui/form/use-settled";
import { useConsoleHref } from "../_ui/team";
import { useTRPC } from "../_ui/trpc";
import { useAction } from "../_ui/use-action";
import { domainIn, pastedDomain } from "./labels";

type Fields = { name: string; returnPathLabel: string };

/** Milliseconds after the last key press. An incomplete name is not sent to the server. */
const settleMs = 300;

/** How the server's error about the name begins. It is shown at the field, without the label. */
const ABOUT_NAME = /^Domain: /;

/** Adds a domain. Shows its ASCII form and any warning, then opens its page with the records to publish. */
export function AddDomain({ teamId, onClose }: { teamId: string; onClose: () => void }) {
  const trpc = useTRPC();
  const hrefOf = useConsoleHref();
  const { field, handleSubmit, setValue, watch, formState } = useFields<Fields>({
    defaultValues: { name: "", returnPathLabel: "send" },
  });
  const action = useAction(trpc.domains.add.mutationOptions(), {
    done: "Domain added",
    refresh: [trpc.domains.list.queryKey()],
    goTo: ({ id }) => hrefOf(`/console/domains/${id}`),
  });
  const name = useSettled(domainIn(watch("name")), settleMs);
  const isComplete = name.includes(".") && !name.endsWith(".");
  const read = useQuery(
    trpc.domains.readName.queryOptions({ team: teamId, name }, { enabled: isComplete, retry: false }),
  );
  // A check that did not reach the service says nothing about the name.
  const found = isComplete ? shownFaultOf(read.error) : null;
  const readFault = found?.code ? found.message : null;
  const nameFault = readFault?.replace(ABOUT_NAME, "") ?? null;
  // The name is checked while it is typed, and the same error is not shown twice.
  const fault = action.fault?.message === readFault ? null : action.fault;
  const label = watch("returnPathLabel").trim() || "send";

  return (
    <FormDialog
      onClose={onClose}
      title="Add domain"
      description="The part after the @ in your sender addresses. A subdomain such as mail.example.com has its own reputation, separate from your other email."
      onSubmit={handleSubmit((fields) =>
        action.run({
          team: teamId,
          name: domainIn(fields.name),
          returnPathLabel: fields.returnPathLabel || "send",
        }),
      )}
      action={{ isBusy: action.isBusy, fault }}
      submitLabel="Add domain"
    >
      <TextField
        label="Domain"
        placeholder="mail.example.com"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        isMono
        onPaste={(event) => {
          const pasted = pastedDomain(event.clipboardData.getData("text"));
          if (pasted === null) return;
          event.preventDefault();
          setValue("name", pasted, { shouldValidate: true });
        }}
        {...field("name", {
          required: "Enter a domain, such as mail.example.com.",
          validate: (text) => text.includes(".") || "Enter a full domain, such as mail.example.com.",
        })}
        error={formState.errors.name ?? nameFault}
      />
      {isComplete && read.data ? <NameNote {...read.data} /> : null}
      <TextField
        label="Return path"
        hint={`${
          isComplete && read.data
            ? `Bounces are sent to ${label}.${read.data.name}.`
            : "Bounces are sent to this subdomain."
        } Change it only if that name is already in use.`}
        autoComplete="off"
        spellCheck={false}
        isMono
        {...field("returnPathLabel", {
          pattern: {
            value: /^\s*([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)?\s*$/i,
            message: "Enter one host name label: letters, digits and inner hyphens.",
          },
        })}
      />
    </FormDialog>
  );
}

type NameNoteProps = { name: string; unicode: string | null; warning: string | null };

function NameNote({ name, unicode, warning }: NameNoteProps) {
  if (!unicode && !warning) return null;
  return (
    <div
      className={`rounded-lg px-3.5 py-2.5 leading-6 ${warning ? "bg-warn-tint text-warn" : "bg-info-tint text-info"}`}
    >
      {unicode ? (
        <p className="break-words">
          {unicode} is added as <code className="wrap-anywhere font-mono text-xs">{name}</code>, its form in
          DNS and SMTP.
        </p>
      ) : null}
      {warning ? <p className="break-words">{warning}</p> : null}
    </div>
  );
}
