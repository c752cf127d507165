"use client";

import { useQuery } from "@tanstack/react-query";
import { Confirm } from "../../_ui/confirm";
import { faultOf } from "../../_ui/fault";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import { changeOf, type Fields, fieldsOf, sayFields, settleVariables } from "./fields";
import type { OpenTemplate } from "./use-template";

type Props = {
  teamId: string;
  id: string;
  alias: string | null;
  template: OpenTemplate;
  open: boolean;
  onOpenChange: (open: boolean) => void;
};

/** Says what sends will say from now on, before they do. What is not saved is saved first. */
export function PublishDialog({ teamId, id, alias, template, open, onOpenChange }: Props) {
  const trpc = useTRPC();
  const { base, fields, isDirty } = template;
  const live = base?.publishedNumber ?? null;
  const { data: published, error } = useQuery(
    trpc.templates.version.queryOptions(
      { team: teamId, id, version: String(live) },
      { enabled: open && live !== null },
    ),
  );
  const { act, isBusy, fault } = useAct(trpc.templates.publish.mutationOptions(), {
    done: "Published",
    onDone: () => {
      onOpenChange(false);
      void template.follow();
    },
  });
  if (!base || !fields) return null;
  const publish = async () => {
    const saved = isDirty ? await template.save() : base;
    if (saved) act({ team: teamId, id, revision: saved.revision });
    else onOpenChange(false);
  };
  return (
    <Confirm
      open={open}
      onOpenChange={onOpenChange}
      tone="plain"
      title={live === null ? "Publish this template?" : "Publish the draft?"}
      confirmLabel={isDirty ? "Save and publish" : "Publish"}
      isBusy={isBusy || template.isSaving}
      fault={fault}
      onConfirm={() => void publish()}
    >
      {live === null ? (
        <p>
          From now on your programs can send with it, by{" "}
          {alias ? <code className="font-mono text-ink text-xs">{alias}</code> : "its id"}.
        </p>
      ) : (
        <>
          <p>
            Every send from now on says what the editor shows, in place of version {live}. Mail that was
            accepted before keeps what it says. You can go back to version {live} at any time.
          </p>
          {published ? (
            <WhatChanges before={fieldsOf(published)} now={fields} />
          ) : error ? (
            <p>What changes could not be looked up: {faultOf(error).message}</p>
          ) : (
            <p>Comparing…</p>
          )}
        </>
      )}
    </Confirm>
  );
}

function WhatChanges({ before, now }: { before: Fields; now: Fields }) {
  const change = changeOf(before, now);
  const required = settleVariables(now).filter(
    ({ key, isRequired }) =>
      isRequired && !before.variables.some((variable) => variable.key === key && variable.isRequired),
  );
  return (
    <>
      <p>
        What changes: <span className="font-medium text-ink">{sayFields(change)}</span>.
      </p>
      {required.length > 0 ? (
        <p className="rounded-lg bg-warn-tint px-3.5 py-2.5 text-warn">
          {required.map(({ key }) => key).join(", ")} {required.length === 1 ? "is" : "are"} required from now
          on: sends that do not bring {required.length === 1 ? "it" : "them"} are refused. A fallback avoids
          that.
        </p>
      ) : null}
    </>
  );
}
