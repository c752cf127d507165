"use client";

import { useForm } from "react-hook-form";
import { Dialog } from "../../_ui/dialog/dialog";
import { ActionForm } from "../../_ui/form/action-form";
import { SelectField, TextField } from "../../_ui/form/form";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";

const KINDS = [
  { value: "installation", label: "All teams" },
  { value: "team", label: "A team" },
  { value: "domain", label: "A sender domain" },
] as const;

type Fields = {
  name: string;
  url: string;
  kind: (typeof KINDS)[number]["value"];
  team: string;
  domain: string;
};

/** Adds a relay for all teams, a team or a domain. */
export function AddRelay({ onClose }: { onClose: () => void }) {
  const trpc = useTRPC();
  const { register, handleSubmit, watch, formState } = useForm<Fields>({
    defaultValues: { name: "", url: "", kind: "installation", team: "", domain: "" },
  });
  const kind = watch("kind");
  const adding = useAction(trpc.relays.add.mutationOptions(), {
    done: ({ name }) => `${name} added. Test its login.`,
    refresh: [trpc.relays.list.queryKey(), trpc.service.readiness.queryKey()],
    onDone: onClose,
  });
  const { errors } = formState;
  return (
    <Dialog
      onOpenChange={onClose}
      title="Add relay"
      description="Relays of one scope are tried in the order in which they were added. Workers use it immediately."
    >
      <ActionForm
        onSubmit={handleSubmit(({ name, url, team, domain }) =>
          adding.run({
            name,
            url,
            team: kind === "installation" || team.trim() === "" ? null : team,
            domain: kind === "domain" ? domain : null,
          }),
        )}
        action={adding}
        onCancel={onClose}
        submitLabel="Add relay"
      >
        <TextField
          label="Name"
          placeholder="main"
          maxLength={100}
          autoComplete="off"
          error={errors.name}
          {...register("name", { validate: (text) => text.trim() !== "" || "Enter a name." })}
        />
        <TextField
          label="URL"
          type="password"
          hint="smtp://user:password@smtp.example.com:587, or smtps://… for TLS from the start. It is stored encrypted and never shown again."
          autoComplete="off"
          spellCheck={false}
          isMono
          error={errors.url}
          {...register("url", { validate: (text) => text.trim() !== "" || "Enter the URL." })}
        />
        <SelectField label="For" options={KINDS} {...register("kind")} />
        {kind === "installation" ? null : (
          <TextField
            label={kind === "team" ? "Team" : "Team (optional)"}
            hint={
              kind === "team" ? "Its name or id." : "Its name or id. Needed if several teams have the domain."
            }
            autoComplete="off"
            error={errors.team}
            {...register("team", {
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
            {...register("domain", { validate: (text) => text.trim() !== "" || "Enter a domain." })}
          />
        ) : null}
      </ActionForm>
    </Dialog>
  );
}
