"use client";

import type { TemplateView } from "#server/trpc/templates/templates";
import { Confirm } from "../../../_ui/dialog/confirm";
import { useTRPC } from "../../../_ui/trpc";
import { useAction } from "../../../_ui/use-action";

type Props = {
  teamId: string;
  template: Pick<TemplateView, "id" | "revision" | "number" | "publishedNumber">;
  version: number;
  onDone?: () => void;
  onClose: () => void;
};

/** Publishes an earlier version again, or a draft, after confirmation. */
export function RollBack({ teamId, template, version, onDone, onClose }: Props) {
  const trpc = useTRPC();
  const { id, revision, number, publishedNumber } = template;
  const isRollback = publishedNumber !== null && version < publishedNumber;
  const action = useAction(trpc.templates.rollBack.mutationOptions(), {
    done: isRollback ? `Rolled back to version ${version}` : `Version ${version} published`,
    refresh: [trpc.templates.pathKey()],
    onDone: () => {
      onDone?.();
      onClose();
    },
  });
  return (
    <Confirm
      onOpenChange={onClose}
      tone="plain"
      title={isRollback ? `Roll back to version ${version}?` : `Publish version ${version}?`}
      confirmLabel={isRollback ? "Roll back" : "Publish"}
      action={action}
      onConfirm={() => action.run({ team: teamId, id, version: String(version), revision })}
    >
      <p>
        New emails will use version {version}
        {publishedNumber === null ? "" : ` instead of version ${publishedNumber}`}. Emails that are already
        accepted do not change.
      </p>
      {number !== publishedNumber && number !== version ? (
        <p>
          The editor will also switch to version {version}. The draft, version {number}, stays in the list of
          versions.
        </p>
      ) : null}
    </Confirm>
  );
}
