"use client";

import { useQuery } from "@tanstack/react-query";
import { useMemo, useRef, useState } from "react";
import type { TemplateView } from "#server/trpc/templates/templates";
import { showError } from "../../_ui/dialog/toasts";
import { FormFault } from "../../_ui/form/form-fault";
import { Toggle } from "../../_ui/form/toggle";
import { Fetched } from "../../_ui/page/fetched";
import { lazyDialog } from "../../_ui/page/lazy-part";
import { useLeaveGuard } from "../../_ui/shell/leave-guard";
import { useCan, useConsoleHref } from "../../_ui/team";
import { useTRPC } from "../../_ui/trpc";
import { VariablesCard } from "./content/variables-card";
import { WriteCard } from "./content/write-card";
import { EditorHeading, Notices } from "./editor-heading";
import { effectiveVariables } from "./fields";
import { PreviewPane } from "./preview/preview-pane";
import { usePreview } from "./preview/use-preview";
import { useSamples } from "./state/stored";
import { useAutosave } from "./state/use-autosave";
import { type DialogName, type EditorProps, useSaveKey, useTemplate } from "./state/use-template";

const dialogs = () => import("./dialogs");
const DIALOGS = {
  api: lazyDialog(async () => (await import("./api-call-dialog")).ApiCallDialog),
  test: lazyDialog(async () => (await dialogs()).TestDialog),
  name: lazyDialog(async () => (await dialogs()).NameDialog),
  publish: lazyDialog(async () => (await dialogs()).PublishDialog),
  conflict: lazyDialog(async () => (await dialogs()).ConflictDialog),
};
const RollBack = lazyDialog(async () => (await import("./versions/roll-back")).RollBack);
const DeleteTemplate = lazyDialog(async () => (await import("../delete-template")).DeleteTemplate);

/** The changes stay stored in the tab and are restored when the page opens again. */
const UNSAVED = {
  title: "Leave without saving?",
  text: "Your changes are not saved. They stay in this tab and are restored when you open the template again.",
};

/** Loads the template, then shows the editor or the error. */
export function TemplateEditor(props: EditorProps) {
  const trpc = useTRPC();
  const query = useQuery(trpc.templates.get.queryOptions({ team: props.teamId, id: props.id }));
  return <Fetched by={query}>{(loaded) => <Editor {...props} loaded={loaded} />}</Fetched>;
}

type Pane = "write" | "preview" | "variables";

/** The editor of a template: its content, the preview and the variables. */
function Editor({ loaded, ...props }: EditorProps & { loaded: TemplateView }) {
  const { teamId, id } = props;
  const hrefOf = useConsoleHref();
  const template = useTemplate(teamId, id, loaded);
  const { latest, base, fields, epoch, isDirty, fault } = template;
  const { samples, change: changeSample } = useSamples(id);
  const [pane, setPane] = useState<Pane>("write");
  const [opened, setOpened] = useState<DialogName | null>(null);
  const [rollsBackTo, setRollsBackTo] = useState<number | null>(null);
  // The button of a message outlives many renderings.
  const isDirtyNow = useRef(isDirty);
  isDirtyNow.current = isDirty;
  const rollBack = (version: number) => {
    if (isDirtyNow.current)
      showError({ message: "Save or discard your changes first.", code: null, requestId: null });
    else setRollsBackTo(version);
  };
  const [isTextRequested, setTextRequested] = useState(false);
  const isReadOnly = !useCan()("templates:write");
  const preview = usePreview(teamId, fields, samples, isTextRequested);
  const isSaveDue = useAutosave(template, preview, isReadOnly || opened !== null || rollsBackTo !== null);
  useLeaveGuard(isDirty, UNSAVED);
  useSaveKey(() => void (isDirty ? template.save() : null));
  const variables = useMemo(() => effectiveVariables(fields), [fields]);
  const declared = useMemo(() => base.fields.variables.map(({ key }) => key), [base]);

  const close = () => setOpened(null);
  const visibilityOf = (which: Pane) => (pane === which ? "" : "max-xl:hidden");
  const Opened = opened && opened !== "delete" ? DIALOGS[opened] : null;
  return (
    <>
      <EditorHeading teamId={teamId} id={id} template={template} isSaveDue={isSaveDue} onOpen={setOpened} />
      <Notices template={template} onConflict={() => setOpened("conflict")} />
      <FormFault fault={fault ?? preview.fault} />
      <Toggle
        label="View"
        value={pane}
        options={[
          { value: "write", label: "Edit" },
          { value: "preview", label: "Preview" },
          { value: "variables", label: `Variables ${variables.length || ""}`.trim() },
        ]}
        onChange={setPane}
        className="mb-4 gap-1 rounded-lg bg-mute-tint p-1 xl:hidden"
        itemClassName="min-h-9 flex-1 rounded-md font-medium text-soft hover:text-ink aria-pressed:bg-raised aria-pressed:text-ink aria-pressed:shadow-sm max-md:min-h-11"
      />
      <div className="grid items-start gap-5 xl:grid-cols-2">
        <div className={`min-w-0 ${visibilityOf("write")}`}>
          <WriteCard
            fields={fields}
            epoch={epoch}
            declared={declared}
            preview={preview}
            isReadOnly={isReadOnly}
            onEdit={template.edit}
          />
        </div>
        <div className={`min-w-0 ${visibilityOf("preview")}`}>
          <PreviewPane
            teamId={teamId}
            id={id}
            template={template}
            preview={preview}
            samples={samples}
            onTextRequested={setTextRequested}
          />
        </div>
        <div className={`min-w-0 xl:col-span-2 ${visibilityOf("variables")}`}>
          <VariablesCard
            fields={fields}
            variables={variables}
            declared={declared}
            samples={samples}
            isReadOnly={isReadOnly}
            onChange={(next) => template.edit({ variables: next })}
            onSample={changeSample}
          />
        </div>
      </div>
      {Opened ? (
        <Opened {...props} template={template} samples={samples} onRollBack={rollBack} onClose={close} />
      ) : null}
      {rollsBackTo !== null ? (
        <RollBack
          teamId={teamId}
          template={{ ...base, id }}
          version={rollsBackTo}
          onDone={() => void template.reload()}
          onClose={() => setRollsBackTo(null)}
        />
      ) : null}
      {opened === "delete" ? (
        <DeleteTemplate
          teamId={teamId}
          template={latest}
          onClose={close}
          next={hrefOf("/console/templates")}
        />
      ) : null}
    </>
  );
}
