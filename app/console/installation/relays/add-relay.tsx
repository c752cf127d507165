"use client";

import { useForm } from "react-hook-form";
import { Dialog } from "../../_ui/dialog/dialog";
import { ActionForm } from "../../_ui/form/action-form";
import { SelectField, TextField } from "../../_ui/form/form";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { EMPTY_RELAY, RelayForm, relayInput, reportTest } from "./relay-fields";

const KINDS = [
  { value: "installation", label: "All teams" },
  { value: "team", label: "A team" },
  { value: "domain", label: "A sender domain" },
] as const;

type Scope = { kind: (typeof KINDS)[number]["value"]; team: string; domain: string };

/** Adds a relay for all teams, a team or a domain, and tests it. */
export function AddRelay({ onClose }: { onClose: () => void }) {
  const trpc = useTRPC();
  const form = useForm({ defaultValues: EMPTY_RELAY });
  const scope = useForm<Scope>({ defaultValues: { kind: "installation", team: "", domain: "" } });
  const kind = scope.watch("kind");
  const adding = useAction(trpc.relays.add.mutationOptions(), {
    refresh: [trpc.relays.list.queryKey(), trpc.service.readiness.queryKey()],
    onDone: (added) => {
      reportTest(added);
      onClose();
    },
  });
  const { errors } = scope.formState;
  const submit = form.handleSubmit((fields) =>
    scope.handleSubmit(({ team, domain }) =>
      adding.run({
        ...relayInput(fields),
        team: kind === "installation" || team.trim() === "" ? null : team,
        domain: kind === "domain" ? domain : null,
      }),
    )(),
  );
  return (
    <Dialog
      onOpenChange={onClose}
      title="Add relay"
      description="Relays of one scope are tried in the order in which they were added. A relay carries email after its test succeeded."
    >
      <ActionForm onSubmit={submit} action={adding} onCancel={onClose} submitLabel="Add relay">
        <RelayForm form={form} passwordHint="Stored encrypted and never shown again." />
        <SelectField label="For" options={KINDS} {...scope.register("kind")} />
        {kind === "installation" ? null : (
          <TextField
            label={kind === "team" ? "Team" : "Team (optional)"}
            hint={
              kind === "team" ? "Its name or id." : "Its name or id. Needed if several teams have the domain."
            }
            autoComplete="off"
            error={errors.team}
            {...scope.register("team", {
              validate: (text) => kind !== "team" || text.trim() !== "" || "Enter a team.",
            })}
          />
        )}
        {kind === "domain" ? (
          <TextField
            label="Domain"
            placeholder="example.com"
            autoComplete="off"
            error={errors.domain}
            {...scope.register("domain", { validate: (text) => text.trim() !== "" || "Enter a domain." })}
          />
        ) : null}
      </ActionForm>
    </Dialog>
  );
}
