"use client";

import { Suspense, useMemo, useState } from "react";
import { keysIn, rawKeysIn } from "#server/shared/template-tags";
import { FormFault } from "../../_ui/form/form-fault";
import { lazyPart } from "../../_ui/page/lazy-part";
import { useCan } from "../../_ui/team";
import { EditorHeading, type Opened } from "./editor-heading";
import { effectiveVariables } from "./fields";
import { imagesHref } from "./images-href";
import { Notices } from "./notices";
import { type Pane, PaneSwitch } from "./pane-switch";
import { PreviewPane } from "./preview-pane";
import { useLeaveGuard } from "./use-leave-guard";
import { usePreview } from "./use-preview";
import { useSamples, valuesOf } from "./use-samples";
import { useSaveKey } from "./use-save-key";
import { useTemplate } from "./use-template";
import { VariablesCard } from "./variables-card";
import { WriteCard } from "./write-card";

const ApiCallDialog = lazyPart(async () => (await import("./api-call-dialog")).ApiCallDialog);
const TestDialog = lazyPart(async () => (await import("./test-dialog")).TestDialog);
const NameDialog = lazyPart(async () => (await import("./name-dialog")).NameDialog);
const ConflictDialog = lazyPart(async () => (await import("./conflict-dialog")).ConflictDialog);

type Props = { teamId: string; id: string; publicUrl: string; ownAddress: string };

/** The editor of a template: its content, the preview and the variables. */
export function Editor({ teamId, id, publicUrl, ownAddress }: Props) {
  const template = useTemplate(teamId, id);
  const { latest, base, fields, epoch, isDirty, fault } = template;
  const { samples, change: changeSample } = useSamples(id);
  const [pane, setPane] = useState<Pane>("write");
  const [opened, setOpened] = useState<Opened>(null);
  const [isTextRequested, setTextRequested] = useState(false);
  const isReadOnly = !useCan()("templates:write");
  const empty = fields ?? EMPTY;
  const preview = usePreview(teamId, empty, samples, isTextRequested);
  useLeaveGuard(isDirty);
  useSaveKey(() => void (isDirty ? template.save() : null));
  const variables = useMemo(() => effectiveVariables(empty), [empty]);
  const declared = useMemo(() => base?.fields.variables.map(({ key }) => key) ?? [], [base]);
  if (!latest || !fields || !base) return null;

  const textKind = fields.text === null ? "generated" : fields.text === "" ? "none" : "written";
  const close = () => setOpened(null);
  const visibilityOf = (which: Pane) => (pane === which ? "" : "max-xl:hidden");
  return (
    <>
      <EditorHeading teamId={teamId} id={id} template={template} opened={opened} onOpen={setOpened} />
      <Notices template={template} onConflict={() => setOpened("conflict")} />
      <FormFault fault={fault ?? preview.fault} />
      <PaneSwitch pane={pane} onChange={setPane} variables={variables.length} />
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
            preview={preview}
            subject={fields.subject.trim()}
            textKind={textKind}
            isDirty={isDirty}
            imagesHref={imagesHref({ teamId, id, html: fields.html, values: valuesOf(variables, samples) })}
            onTextRequested={setTextRequested}
          />
        </div>
        <div className={`min-w-0 xl:col-span-2 ${visibilityOf("variables")}`}>
          <VariablesCard
            variables={variables}
            declared={declared}
            used={keysIn(fields.subject, fields.html, fields.text)}
            raw={rawKeysIn(fields.html)}
            samples={samples}
            isReadOnly={isReadOnly}
            onChange={(next) => template.edit({ variables: next })}
            onSample={changeSample}
          />
        </div>
      </div>
      <Suspense>
        {opened === "api" ? (
          <ApiCallDialog
            publicUrl={publicUrl}
            name={latest.alias ?? latest.id}
            fields={fields}
            samples={samples}
            isPublished={latest.publishedNumber !== null}
            onClose={close}
          />
        ) : null}
        {opened === "test" ? (
          <TestDialog
            teamId={teamId}
            id={id}
            template={template}
            samples={samples}
            ownAddress={ownAddress}
            onClose={close}
          />
        ) : null}
        {opened === "name" ? <NameDialog teamId={teamId} template={template} onClose={close} /> : null}
        {opened === "conflict" ? <ConflictDialog template={template} onClose={close} /> : null}
      </Suspense>
    </>
  );
}

const EMPTY = { subject: "", html: "", text: null, from: "", replyTo: "", variables: [] };
