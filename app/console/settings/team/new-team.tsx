"use client";

import { loadPage } from "../../_ui/connection/connection";
import { FormDialog } from "../../_ui/dialog/form-dialog";
import { TextField } from "../../_ui/form/form";
import { useFields } from "../../_ui/form/use-fields";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { findNameFault } from "./team-name";

/** Creates a team and opens it. */
export function NewTeam({ onClose }: { onClose: () => void }) {
  const trpc = useTRPC();
  const { field, handleSubmit } = useFields({ defaultValues: { name: "" } });
  const creation = useAction(trpc.team.create.mutationOptions(), {
    // A full page load updates the team list in the page layout.
    onDone: ({ id }) => loadPage(`/console?team=${encodeURIComponent(id)}`),
  });
  const { fault } = creation;
  return (
    <FormDialog
      onClose={onClose}
      title="Create a team"
      description="You become its owner. Invite members under Settings, Members."
      onSubmit={handleSubmit(creation.run)}
      action={{ isBusy: creation.isBusy || creation.result !== undefined, fault }}
      submitLabel="Create team"
    >
      <TextField label="Team name" autoComplete="off" {...field("name", { validate: findNameFault })} />
    </FormDialog>
  );
}
