"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import type { inferRouterOutputs } from "@trpc/server";
import { useEffect, useRef } from "react";
import type { RelayRow, relaysRouter } from "#server/trpc/installation/relays";
import { Dialog } from "../../_ui/dialog/dialog";
import { FormDialog } from "../../_ui/dialog/form-dialog";
import { faultOf } from "../../_ui/fault";
import { ActionForm } from "../../_ui/form/action-form";
import { Button } from "../../_ui/form/button";
import { TextField } from "../../_ui/form/form";
import { FormFault } from "../../_ui/form/form-fault";
import { useFields } from "../../_ui/form/use-fields";
import { Fetched } from "../../_ui/page/fetched";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { ReasonField, ScopeFields, type ScopeValues, scopeOf } from "../scope-fields";
import { EMPTY_RELAY, RelayForm, relayInput, reportTest } from "./relay-fields";

type Connection = inferRouterOutputs<typeof relaysRouter>["connection"];
type Props = { relay: RelayRow; onClose: () => void };

/** Changes a relay. A changed connection is tested before the relay carries email again. */
export function EditRelay({ relay, onClose }: Props) {
  const trpc = useTRPC();
  const connection = useQuery(trpc.relays.connection.queryOptions({ id: relay.id }, { gcTime: 0 }));
  return (
    <Dialog
      onOpenChange={onClose}
      title={`Edit the relay ${relay.name}`}
      description="If the server or the login is changed, the relay carries email again after its test succeeded."
    >
      <Fetched by={connection} loading={<p role="status">Loading…</p>}>
        {(found) => <EditForm relay={relay} connection={found} onClose={onClose} />}
      </Fetched>
    </Dialog>
  );
}

function EditForm({ relay, connection, onClose }: Props & { connection: Connection }) {
  const trpc = useTRPC();
  const { port, connectionsMax, verify, ...shown } = connection;
  const form = useFields({
    defaultValues: {
      ...shown,
      name: relay.name,
      port: String(port),
      connectionsMax: String(connectionsMax),
      certificate: verify || shown.tls === "opportunistic" ? ("valid" as const) : ("any" as const),
      password: "",
      position: String(relay.position),
    },
  });
  const saving = useAction(trpc.relays.update.mutationOptions(), {
    refresh: [trpc.relays.list.queryKey(), trpc.service.readiness.queryKey()],
    onDone: (changed) => {
      reportTest(changed);
      onClose();
    },
  });
  const submit = form.handleSubmit(({ position, ...fields }) =>
    saving.run({ id: relay.id, ...relayInput(fields), position: Number(position) }),
  );
  return (
    <ActionForm onSubmit={submit} action={saving} onCancel={onClose} submitLabel="Save changes">
      <RelayForm
        form={form}
        passwordHint={
          shown.user === ""
            ? "Stored encrypted and never shown again."
            : "Empty: the stored password is kept, for the same server and user."
        }
      />
      <TextField
        label="Position"
        hint="Relays of one scope are tried in the order of their positions."
        inputMode="numeric"
        autoComplete="off"
        {...form.field("position", {
          validate: (text) => /^\d{1,4}$/.test(text.trim()) || "Enter a number from 1 to 1000.",
        })}
      />
    </ActionForm>
  );
}

const EVERYWHERE: ScopeValues = { kind: "installation", team: "", domain: "" };

/** Adds a relay for all teams, a team or a domain, and tests it. */
export function AddRelay({ onClose }: { onClose: () => void }) {
  const trpc = useTRPC();
  const form = useFields({ defaultValues: { ...EMPTY_RELAY, ...EVERYWHERE } });
  const adding = useAction(trpc.relays.add.mutationOptions(), {
    refresh: [trpc.relays.list.queryKey(), trpc.service.readiness.queryKey()],
    onDone: (added) => {
      reportTest(added);
      onClose();
    },
  });
  const submit = form.handleSubmit(({ kind, team, domain, ...fields }) =>
    adding.run({ ...relayInput(fields), ...scopeOf({ kind, team, domain }) }),
  );
  return (
    <FormDialog
      onClose={onClose}
      title="Add relay"
      description="Relays of one scope are tried in the order in which they were added. A relay carries email after its test succeeded."
      onSubmit={submit}
      action={adding}
      submitLabel="Add relay"
    >
      <RelayForm form={form} passwordHint="Stored encrypted and never shown again." />
      <ScopeFields label="For" form={form} />
    </FormDialog>
  );
}

/** Connects to the relay and logs in, and shows the result. */
export function TestRelay({ relay: { id, name }, onClose }: Props) {
  const trpc = useTRPC();
  const test = useMutation(trpc.relays.test.mutationOptions());
  const isStarted = useRef(false);
  const { mutate, data, isPending, error } = test;
  useEffect(() => {
    if (isStarted.current) return;
    isStarted.current = true;
    mutate({ id });
  }, [id, mutate]);
  const footer = (
    <>
      <Button disabled={isPending} onClick={() => mutate({ id })}>
        Test again
      </Button>
      <Button tone="primary" onClick={onClose}>
        Done
      </Button>
    </>
  );
  return (
    <Dialog
      onOpenChange={onClose}
      title={`Test the relay ${name}`}
      description="Connects and logs in. No email is sent."
      footer={footer}
    >
      <p role="status" className="break-words leading-6">
        {isPending || !(data || error) ? "Connecting…" : data ? formatResult(data) : null}
      </p>
      {error ? <FormFault fault={faultOf(error)} /> : null}
    </Dialog>
  );
}

const formatResult = ({ fault, isResumed }: { fault: string | null; isResumed: boolean }): string =>
  fault === null
    ? `The relay accepts the connection and the login.${isResumed ? " It carries email now." : ""}`
    : `Failed: ${fault}`;

/** Pauses a relay, with the reason. */
export function PauseRelay({ relay: { id, name }, onClose }: Props) {
  const trpc = useTRPC();
  const form = useFields({ defaultValues: { reason: "" } });
  const pausing = useAction(trpc.relays.pause.mutationOptions(), {
    done: `${name} paused`,
    refresh: [trpc.relays.list.queryKey(), trpc.service.readiness.queryKey()],
    onDone: onClose,
  });
  return (
    <FormDialog
      onClose={onClose}
      title={`Pause the relay ${name}`}
      description="Its email uses the next relay, or waits if there is none. Dialogues in progress finish."
      onSubmit={form.handleSubmit(({ reason }) => pausing.run({ id, reason }))}
      action={pausing}
      submitLabel="Pause relay"
    >
      <ReasonField form={form} hint="Shown with the email that waits." />
    </FormDialog>
  );
}
