"use client";

import { Trash2 } from "lucide-react";
import { useEffect, useState } from "react";
import { type SavedList, savedNameCharsMax } from "#server/shared/lists/saved-lists";
import { Dialog } from "../dialog/dialog";
import { ActionForm } from "../form/action-form";
import { Button } from "../form/button";
import { TextField } from "../form/form";
import { FormFault } from "../form/form-fault";
import { iconButtonStyle } from "../styles";
import { useTRPC } from "../trpc";
import { useAction } from "../use-action";

type SaveProps = { teamId: string; list: SavedList; filters: Record<string, string>; onClose: () => void };

/** Saves the current filters of a list under a name. */
export function SaveFilterDialog({ teamId, list, filters, onClose }: SaveProps) {
  const trpc = useTRPC();
  const [name, setName] = useState("");
  const saving = useAction(trpc.savedFilters.save.mutationOptions(), {
    done: "Filter saved",
    refresh: [trpc.savedFilters.pathKey()],
    onDone: onClose,
  });
  return (
    <Dialog onOpenChange={onClose} title="Save filter">
      <ActionForm
        onSubmit={(event) => {
          event.preventDefault();
          saving.run({ team: teamId, list, name, query: new URLSearchParams(filters).toString() });
        }}
        action={saving}
        onCancel={onClose}
        submitLabel="Save filter"
        disabled={name.trim() === ""}
      >
        <TextField
          label="Name"
          hint="Visible only to you. Relative times such as Today stay relative to when you open the filter."
          value={name}
          maxLength={savedNameCharsMax}
          onChange={({ target }) => setName(target.value)}
        />
      </ActionForm>
    </Dialog>
  );
}

type Saved = { id: string; name: string };
type ManageProps = { teamId: string; saved: readonly Saved[]; onClose: () => void };

/** Renames and deletes saved filters. */
export function ManageFiltersDialog({ teamId, saved, onClose }: ManageProps) {
  // Nothing is left to manage after the last one was deleted.
  useEffect(() => {
    if (saved.length === 0) onClose();
  }, [saved.length, onClose]);
  return (
    <Dialog
      onOpenChange={onClose}
      title="Saved filters"
      footer={
        <Button tone="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <ul className="flex flex-col gap-2">
        {saved.map((each) => (
          <SavedLine key={each.id} teamId={teamId} saved={each} />
        ))}
      </ul>
    </Dialog>
  );
}

function SavedLine({ teamId, saved: { id, name } }: { teamId: string; saved: Saved }) {
  const trpc = useTRPC();
  const [draft, setDraft] = useState(name);
  const refresh = [trpc.savedFilters.pathKey()];
  const renaming = useAction(trpc.savedFilters.rename.mutationOptions(), { done: "Filter renamed", refresh });
  const deleting = useAction(trpc.savedFilters.delete.mutationOptions(), { done: "Filter deleted", refresh });
  const isChanged = draft.trim() !== "" && draft.trim() !== name;
  return (
    <li>
      <form
        className="flex items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          if (isChanged) renaming.run({ team: teamId, id, name: draft });
        }}
      >
        <div className="grow">
          <TextField
            label={
              <>
                Name<span className="sr-only"> of {name}</span>
              </>
            }
            value={draft}
            maxLength={savedNameCharsMax}
            onChange={({ target }) => setDraft(target.value)}
          />
        </div>
        {isChanged ? (
          <Button
            isSmall
            className="mb-0.5"
            disabled={renaming.isBusy}
            onClick={() => renaming.run({ team: teamId, id, name: draft })}
          >
            Rename
          </Button>
        ) : null}
        <button
          type="button"
          title={`Delete ${name}`}
          aria-label={`Delete ${name}`}
          disabled={deleting.isBusy}
          onClick={() => deleting.run({ team: teamId, id })}
          className={`${iconButtonStyle} mb-1`}
        >
          <Trash2 className="size-4" aria-hidden="true" />
        </button>
      </form>
      <FormFault fault={renaming.fault} />
    </li>
  );
}
