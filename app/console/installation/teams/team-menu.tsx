"use client";

import { Trash2, Undo2 } from "lucide-react";
import { useState } from "react";
import type { TeamRow } from "#server/trpc/installation/installation";
import { Menu } from "../../_ui/dialog/menu";
import { lazyDialog } from "../../_ui/page/lazy-part";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";

const DeleteTeam = lazyDialog(async () => (await import("../../settings/team/delete-team")).DeleteTeam);

/** Requests or cancels the deletion of a team. */
export function TeamMenu({ team: { id: teamId, name, deletesAt } }: { team: TeamRow }) {
  const trpc = useTRPC();
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  const refresh = [
    trpc.installation.teams.queryKey(),
    trpc.installation.deletions.queryKey(),
    trpc.service.pauses.queryKey(),
    trpc.team.deletion.queryKey(),
  ];
  const requesting = useAction(trpc.installation.requestDeletion.mutationOptions(), {
    done: "Deletion requested",
    refresh,
    onDone: close,
  });
  const canceling = useAction(trpc.installation.cancelDeletion.mutationOptions(), {
    done: "Deletion canceled",
    refresh,
  });
  return (
    <>
      <Menu
        label={`Actions for ${name}`}
        items={[
          deletesAt === null
            ? { label: "Delete team…", Icon: Trash2, tone: "bad", onSelect: () => setOpen(true) }
            : { label: "Cancel deletion", Icon: Undo2, onSelect: () => canceling.run({ teamId }) },
        ]}
      />
      {isOpen ? (
        <DeleteTeam
          name={name}
          action={requesting}
          onConfirm={(given) => requesting.run({ teamId, ...given })}
          onClose={close}
        />
      ) : null}
    </>
  );
}
