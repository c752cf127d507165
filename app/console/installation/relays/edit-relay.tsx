"use client";

import { useQuery } from "@tanstack/react-query";
import type { inferRouterOutputs } from "@trpc/server";
import { useForm } from "react-hook-form";
import type { RelayRow, relaysRouter } from "#server/trpc/installation/relays";
import { Dialog } from "../../_ui/dialog/dialog";
import { ActionForm } from "../../_ui/form/action-form";
import { TextField } from "../../_ui/form/form";
import { Fetched } from "../../_ui/page/fetched";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { RelayForm, relayInput, reportTest } from "./relay-fields";

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
  const form = useForm({
    defaultValues: {
      ...shown,
      name: relay.name,
      port: String(port),
      connectionsMax: String(connectionsMax),
      certificate: verify || shown.tls === "opportunistic" ? ("valid" as const) : ("any" as const),
      password: "",
    },
  });
  const place = useForm({ defaultValues: { position: String(relay.position) } });
  const saving = useAction(trpc.relays.update.mutationOptions(), {
    refresh: [trpc.relays.list.queryKey(), trpc.service.readiness.queryKey()],
    onDone: (changed) => {
      reportTest(changed);
      onClose();
    },
  });
  const submit = form.handleSubmit((fields) =>
    place.handleSubmit(({ position }) =>
      saving.run({ id: relay.id, ...relayInput(fields), position: Number(position) }),
    )(),
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
        error={place.formState.errors.position}
        {...place.register("position", {
          validate: (text) => /^\d{1,4}$/.test(text.trim()) || "Enter a number from 1 to 1000.",
        })}
      />
    </ActionForm>
  );
}
