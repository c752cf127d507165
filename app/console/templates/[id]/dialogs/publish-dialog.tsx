"use client";

import { useQuery } from "@tanstack/react-query";
import { Confirm } from "../../../_ui/dialog/confirm";
import { faultOf } from "../../../_ui/fault";
import { useTRPC } from "../../../_ui/trpc";
import { useAction } from "../../../_ui/use-action";
import { changeOf, effectiveVariables, type Fields, fieldsOf, formatFieldNames } from "../fields";
import type { DialogProps } from "../use-template";

/** Shows what publishing changes and asks for confirmation. Unsaved changes are saved first. */
export function PublishDialog({ teamId, id, template, onClose }: DialogProps) {
  const trpc = useTRPC();
  const { latest, base, fields, isDirty } = template;
  const { alias } = latest;
  const live = base.publishedNumber;
  const { data: published, error } = useQuery(
    trpc.templates.version.queryOptions(
      { team: teamId, id, version: String(live) },
      { enabled: live !== null },
    ),
  );
  const { run, isBusy, fault } = useAction(trpc.templates.publish.mutationOptions(), {
    done: "Published",
    onDone: () => {
      onClose();
      void template.reload();
    },
  });
  const publish = async () => {
    const saved = isDirty ? await template.save() : base;
    if (saved) run({ team: teamId, id, revision: saved.revision });
    else onClose();
  };
  return (
    <Confirm
      open
      onOpenChange={onClose}
      tone="plain"
      title={live === null ? "Publish this template?" : "Publish the draft?"}
      confirmLabel={isDirty ? "Save and publish" : "Publish"}
      isBusy={isBusy || template.isSaving}
      fault={fault}
      onConfirm={() => void publish()}
    >
      {live === null ? (
        <p>
          After publishing, programs can send this template by{" "}
          {alias ? (
            <>
              the alias <code className="font-mono text-ink text-xs">{alias}</code>
            </>
          ) : (
            "its id"
          )}
          .
        </p>
      ) : (
        <>
          <p>
            New emails will use the content in the editor instead of version {live}. Emails that are already
            accepted do not change. You can roll back to version {live} at any time.
          </p>
          {published ? (
            <Changes before={fieldsOf(published)} now={fields} />
          ) : error ? (
            <p>The changes could not be loaded: {faultOf(error).message}</p>
          ) : (
            <p>Comparing…</p>
          )}
        </>
      )}
    </Confirm>
  );
}

function Changes({ before, now }: { before: Fields; now: Fields }) {
  const change = changeOf(before, now);
  const required = effectiveVariables(now).filter(
    ({ key, isRequired }) =>
      isRequired && !before.variables.some((variable) => variable.key === key && variable.isRequired),
  );
  return (
    <>
      <p>
        Changed: <span className="font-medium text-ink">{formatFieldNames(change)}</span>.
      </p>
      {required.length > 0 ? (
        <p className="rounded-lg bg-warn-tint px-3.5 py-2.5 text-warn">
          {required.map(({ key }) => key).join(", ")} {required.length === 1 ? "becomes" : "become"} required:
          sends without {required.length === 1 ? "it" : "them"} will be rejected. Set a fallback to avoid
          this.
        </p>
      ) : null}
    </>
  );
}
