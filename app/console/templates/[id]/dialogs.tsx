"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { useRef } from "react";
import { Confirm } from "../../_ui/dialog/confirm";
import { Dialog } from "../../_ui/dialog/dialog";
import { DoneAction } from "../../_ui/dialog/dialog-actions";
import { FormDialog } from "../../_ui/dialog/form-dialog";
import { showAction, showSuccess } from "../../_ui/dialog/toasts";
import { faultOf } from "../../_ui/fault";
import { ActionForm } from "../../_ui/form/action-form";
import { Button } from "../../_ui/form/button";
import { TextField } from "../../_ui/form/form";
import { useFields } from "../../_ui/form/use-fields";
import { linkStyle } from "../../_ui/styles";
import { useConsoleHref } from "../../_ui/team";
import { Note } from "../../_ui/text/notes";
import { testRecipientOf } from "../../_ui/text/send-example";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { NAME_RULE, NameFields } from "../name-fields";
import { Diff } from "./code/diff";
import {
  ALIAS_RULE,
  changeOf,
  effectiveVariables,
  type Fields,
  fieldsOf,
  formatFieldNames,
  requiredVariables,
  valuesOf,
} from "./fields";
import type { DialogProps } from "./state/use-template";

/** Sends the content of the editor to one address as a regular email. Unsaved changes are saved first. */
export function TestDialog({ teamId, id, template, samples, ownAddress, onClose }: DialogProps) {
  const trpc = useTRPC();
  const hrefOf = useConsoleHref();
  const { fields, isDirty } = template;
  const domains = useQuery(trpc.domains.names.queryOptions({ team: teamId }));
  const verified = (domains.data ?? []).filter(({ isVerified }) => isVerified);
  const { field, handleSubmit } = useFields({
    defaultValues: { to: testRecipientOf(fields.from, ownAddress), from: fields.from },
  });
  const action = useAction(trpc.templates.sendTest.mutationOptions());
  const { result } = action;
  const variables = effectiveVariables(fields);
  const values = valuesOf(variables, samples);
  const missing = requiredVariables(fields).filter(({ key }) => !(key in values));

  const send = handleSubmit(async ({ to, from }) => {
    if (isDirty && (await template.save()) === null) return onClose();
    action.run({ team: teamId, id, to: to.trim(), from: from.trim() || null, values });
  });

  return (
    <Dialog
      onOpenChange={onClose}
      title="Send test email"
      description="The test is sent like any other email, with your sample values, and appears in your email list."
    >
      {result ? (
        <>
          <Note tone="good" role="status">
            Accepted.{" "}
            <Link href={hrefOf(`/console/emails/${result.id}`)} className={`${linkStyle} text-good`}>
              View email
            </Link>
          </Note>
          <DoneAction onClose={onClose} />
        </>
      ) : (
        <ActionForm
          onSubmit={send}
          action={{ ...action, isBusy: action.isBusy || template.isSaving }}
          onCancel={onClose}
          submitLabel="Send test"
          disabled={missing.length > 0}
        >
          <TextField
            label="To"
            inputMode="email"
            autoComplete="email"
            {...field("to", { required: "Enter an email address." })}
          />
          <TextField
            label="From"
            placeholder="Name <hello@example.com>"
            autoComplete="off"
            spellCheck={false}
            hint={
              verified.length > 0
                ? `Verified domains: ${verified.map(({ name }) => name).join(", ")}. Email from backstamp.test never leaves this installation.`
                : "Use a verified domain of the team."
            }
            {...field("from", { required: "Enter a sender. The template has none." })}
          />
          {missing.length > 0 ? (
            <Note>
              {missing.map(({ key }) => key).join(", ")} {missing.length === 1 ? "has" : "have"} no sample
              value. Enter {missing.length === 1 ? "it" : "them"} below the editor first.
            </Note>
          ) : null}
        </ActionForm>
      )}
    </Dialog>
  );
}

/** Changes the name and alias of a template. Both take effect immediately: they are not part of a version. */
export function NameDialog({ teamId, template, onClose }: DialogProps) {
  const trpc = useTRPC();
  const { latest, base } = template;
  const { field, handleSubmit, watch } = useFields({
    defaultValues: { name: latest.name, alias: latest.alias ?? "" },
  });
  const action = useAction(trpc.templates.save.mutationOptions(), {
    done: "Saved",
    onDone: () => {
      void template.reload();
      onClose();
    },
  });
  const isAliasRemoved = latest.alias !== null && watch("alias").trim() !== latest.alias;
  const save = handleSubmit(({ name, alias }) =>
    action.run({
      team: teamId,
      id: latest.id,
      revision: base.revision,
      change: { name: name.trim(), alias: alias.trim() || null },
    }),
  );
  return (
    <FormDialog onClose={onClose} title="Name and alias" onSubmit={save} action={action} submitLabel="Save">
      <NameFields name={field("name", NAME_RULE)} alias={field("alias", { pattern: ALIAS_RULE })} />
      {isAliasRemoved ? (
        <Note>
          API calls that use the alias <code className="wrap-anywhere font-mono text-xs">{latest.alias}</code>{" "}
          are rejected with 404 as soon as you save.
        </Note>
      ) : null}
    </FormDialog>
  );
}

/** Shows what publishing changes and asks for confirmation. Unsaved changes are saved first. */
export function PublishDialog({ teamId, id, template, onRollBack, onClose }: DialogProps) {
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
  // A save right before publishing can create a version.
  const publishedNumber = useRef(base.number);
  const { run, isBusy, fault } = useAction(trpc.templates.publish.mutationOptions(), {
    onDone: () => {
      const done = `Version ${publishedNumber.current} published`;
      if (live === null) showSuccess(done);
      else showAction(done, { label: `Roll back to version ${live}…`, onClick: () => onRollBack(live) });
      onClose();
      void template.reload();
    },
  });
  const publish = async () => {
    const saved = isDirty ? await template.save() : base;
    if (!saved) return onClose();
    publishedNumber.current = saved.number;
    run({ team: teamId, id, revision: saved.revision });
  };
  return (
    <Confirm
      onOpenChange={onClose}
      tone="plain"
      title={live === null ? "Publish this template?" : "Publish the draft?"}
      confirmLabel="Publish"
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
  const wasRequired = requiredVariables(before).map(({ key }) => key);
  const required = requiredVariables(now).filter(({ key }) => !wasRequired.includes(key));
  return (
    <>
      <p>
        Changed: <span className="font-medium text-ink">{formatFieldNames(change)}</span>.
      </p>
      {required.length > 0 ? (
        <Note>
          {required.map(({ key }) => key).join(", ")} {required.length === 1 ? "becomes" : "become"} required:
          sends without {required.length === 1 ? "it" : "them"} will be rejected. Set a fallback to avoid
          this.
        </Note>
      ) : null}
    </>
  );
}

/**
 * Compares the unsaved changes with a version that was saved in the meantime. The user selects one of them.
 */
export function ConflictDialog({ template, onClose }: DialogProps) {
  const { theirs, fields } = template;
  if (!theirs) return null;
  const their = fieldsOf(theirs);
  return (
    <Dialog
      onOpenChange={onClose}
      size="wide"
      title="Conflicting changes"
      description={
        <>
          This template was saved by another user or in another tab after you started to edit it:{" "}
          <When at={theirs.updated_at} />. Your version differs in the{" "}
          {formatFieldNames(changeOf(their, fields))}. In the comparison, removed text is theirs and added
          text is yours.
        </>
      }
      footer={
        <>
          <Button
            onClick={() => {
              template.acceptTheirs();
              onClose();
            }}
          >
            Use theirs, discard mine
          </Button>
          <Button
            tone="danger"
            disabled={template.isSaving}
            onClick={() => void template.overwriteTheirs().then(onClose)}
          >
            Overwrite with mine
          </Button>
        </>
      }
    >
      <Diff before={their} after={fields} />
    </Dialog>
  );
}
