"use client";

import { useQuery } from "@tanstack/react-query";
import { Dialog } from "../../_ui/dialog/dialog";
import { ActionForm } from "../../_ui/form/action-form";
import { TextField } from "../../_ui/form/form";
import { useFields } from "../../_ui/form/use-fields";
import { SkeletonCard } from "../../_ui/list/skeleton";
import { Fetched } from "../../_ui/page/fetched";
import { firstEmailOf } from "../../_ui/text/send-example";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { Accepted } from "./accepted";

type Props = { teamId: string; onClose: () => void };

/** Sends a short email to one address, so that a user can try sending before there is a program. */
export function SendTest({ teamId, onClose }: Props) {
  const trpc = useTRPC();
  const setup = useQuery(trpc.overview.parts.queryOptions({ team: teamId }));
  return (
    <Dialog
      onOpenChange={onClose}
      title="Send a test email"
      description="It is sent like any other email, and appears in your email list."
    >
      <Fetched by={setup} isBare loading={<SkeletonCard lines={3} />}>
        {({ setup: { hasTransport, verifiedDomain, ownAddress } }) => (
          <TestForm
            teamId={teamId}
            values={firstEmailOf(verifiedDomain, hasTransport, ownAddress)}
            onClose={onClose}
          />
        )}
      </Fetched>
    </Dialog>
  );
}

type FormProps = Props & { values: { from: string; to: string } };

function TestForm({ teamId, values: { from, to }, onClose }: FormProps) {
  const trpc = useTRPC();
  const { field, handleSubmit } = useFields({ defaultValues: { from, to } });
  const action = useAction(trpc.emails.sendTest.mutationOptions(), {
    refresh: [trpc.emails.list.pathKey(), trpc.overview.parts.queryKey()],
  });
  if (action.result) return <Accepted {...action.result} linkLabel="View email" onClose={onClose} />;
  return (
    <ActionForm
      onSubmit={handleSubmit((fields) =>
        action.run({ team: teamId, from: fields.from.trim(), to: fields.to.trim() }),
      )}
      action={action}
      onCancel={onClose}
      submitLabel="Send test email"
    >
      <TextField
        label="To"
        inputMode="email"
        autoComplete="email"
        hint="delivered@backstamp.test accepts every email and needs no SMTP server."
        {...field("to", { required: "Enter an email address." })}
      />
      <TextField
        label="From"
        autoComplete="off"
        spellCheck={false}
        hint="An address of a verified domain of the team. Email from backstamp.test never leaves this installation."
        {...field("from", { required: "Enter a sender." })}
      />
    </ActionForm>
  );
}
