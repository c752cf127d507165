"use client";

import { useQuery } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useEffect, useState } from "react";
import { useForm } from "react-hook-form";
import { Dialog, DialogActions } from "../_ui/dialog";
import { faultOf } from "../_ui/fault";
import { SubmitButton, TextField } from "../_ui/form";
import { FormFault } from "../_ui/form-fault";
import { buttonStyle } from "../_ui/styles";
import { useConsoleHref } from "../_ui/team";
import { useTRPC } from "../_ui/trpc";
import { useAct } from "../_ui/use-act";

type Fields = { name: string; returnPathLabel: string };

/** After the last key press; half a name is no name. */
const settleMs = 300;

/** Asks for the name, tells under which it would be added, and leads to what is to be published. */
export function AddDomain({ teamId, onClose }: { teamId: string; onClose: () => void }) {
  const trpc = useTRPC();
  const router = useRouter();
  const hrefOf = useConsoleHref();
  const { register, handleSubmit, watch, formState } = useForm<Fields>({
    defaultValues: { name: "", returnPathLabel: "send" },
  });
  const { act, isBusy, fault } = useAct(trpc.domains.add.mutationOptions(), {
    done: "Domain added",
    refresh: [trpc.domains.list.queryKey()],
    onDone: ({ id }) => router.push(hrefOf(`/console/domains/${id}`)),
  });
  const name = useSettled(watch("name").trim());
  const isName = name.includes(".") && !name.endsWith(".");
  const read = useQuery(
    trpc.domains.readName.queryOptions({ team: teamId, name }, { enabled: isName, retry: false }),
  );
  const label = watch("returnPathLabel").trim() || "send";

  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Add a domain"
      description="The part after the @ of your senders. A subdomain such as mail.example.com keeps its reputation apart from that of your own mail."
    >
      <form
        onSubmit={handleSubmit((fields) =>
          act({ team: teamId, name: fields.name, returnPathLabel: fields.returnPathLabel || "send" }),
        )}
        className="flex flex-col gap-5"
        noValidate
      >
        <TextField
          label="Domain"
          placeholder="mail.example.com"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          isMono
          error={formState.errors.name ?? (isName && read.error ? faultOf(read.error).message : null)}
          {...register("name", {
            required: "Give the domain, such as mail.example.com.",
            validate: (text) => text.includes(".") || "Give a full domain, such as mail.example.com.",
          })}
        />
        {isName && read.data ? <NameNote {...read.data} /> : null}
        <TextField
          label="Return path"
          hint={`Bounces come back to ${label}.${read.data?.name ?? "your domain"}. Leave it, unless that name is taken.`}
          autoComplete="off"
          spellCheck={false}
          isMono
          error={formState.errors.returnPathLabel}
          {...register("returnPathLabel", {
            pattern: {
              value: /^\s*([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)?\s*$/i,
              message: "One label of a host name: letters, digits or inner hyphens.",
            },
          })}
        />
        <FormFault fault={fault} />
        <DialogActions>
          <button type="button" onClick={onClose} className={`${buttonStyle.plain} h-10`}>
            Cancel
          </button>
          <SubmitButton isBusy={isBusy}>Add domain</SubmitButton>
        </DialogActions>
      </form>
    </Dialog>
  );
}

type Named = { name: string; unicode: string | null; warning: string | null };

function NameNote({ name, unicode, warning }: Named) {
  if (!unicode && !warning) return null;
  return (
    <div
      className={`rounded-lg px-3.5 py-2.5 leading-6 ${warning ? "bg-warn-tint text-warn" : "bg-info-tint text-info"}`}
    >
      {unicode ? (
        <p className="break-words">
          {unicode} is added as <code className="wrap-anywhere font-mono text-xs">{name}</code>, which is what
          DNS and mail servers know it by.
        </p>
      ) : null}
      {warning ? <p className="break-words">{warning}</p> : null}
    </div>
  );
}

/** What a text was when it last stood still. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), settleMs);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
