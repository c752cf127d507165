"use client";

import type { TemplateView } from "#server/trpc/template-views";
import { Confirm } from "../../../_ui/confirm";
import { useTRPC } from "../../../_ui/trpc";
import { useAct } from "../../../_ui/use-act";

type Props = {
  teamId: string;
  template: TemplateView;
  version: number;
  open: boolean;
  onOpenChange: (open: boolean) => void;
};

/** Sends an earlier version live again, or a draft, after saying what that means. */
export function RollBack({ teamId, template, version, open, onOpenChange }: Props) {
  const trpc = useTRPC();
  const { id, revision, number, publishedNumber } = template;
  const isBack = publishedNumber !== null && version < publishedNumber;
  const { act, isBusy, fault } = useAct(trpc.templates.rollBack.mutationOptions(), {
    done: isBack ? `Rolled back to version ${version}` : `Version ${version} published`,
    refresh: [trpc.templates.pathKey()],
    onDone: () => onOpenChange(false),
  });
  return (
    <Confirm
      open={open}
      onOpenChange={onOpenChange}
      tone="plain"
      title={isBack ? `Roll back to version ${version}?` : `Publish version ${version}?`}
      confirmLabel={isBack ? "Roll back" : "Publish"}
      isBusy={isBusy}
      fault={fault}
      onConfirm={() => act({ team: teamId, id, version: String(version), revision })}
    >
      <p>
        Every send from now on says version {version}
        {publishedNumber === null ? "" : ` in place of ${publishedNumber}`}. Mail that was accepted before
        keeps what it says.
      </p>
      {number !== publishedNumber && number !== version ? (
        <p>
          The editor shows version {version} too. The draft, version {number}, stays in this list.
        </p>
      ) : null}
    </Confirm>
  );
}
