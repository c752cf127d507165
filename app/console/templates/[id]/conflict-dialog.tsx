"use client";

import { Dialog } from "../../_ui/dialog";
import { buttonStyle } from "../../_ui/styles";
import { When } from "../../_ui/when";
import { Diff } from "./diff";
import { changeOf, fieldsOf, sayFields } from "./fields";
import type { OpenTemplate } from "./use-template";

/** Somebody else saved while this was being written: shows both, and lets the reader choose. */
export function ConflictDialog({ template, onClose }: { template: OpenTemplate; onClose: () => void }) {
  const { theirs, fields } = template;
  if (!theirs || !fields) return null;
  const their = fieldsOf(theirs.content);
  return (
    <Dialog
      open
      onOpenChange={onClose}
      size="wide"
      title="Somebody else has saved this template"
      description={
        <>
          They saved <When at={theirs.updatedAt} />, after you began. Yours differs in the{" "}
          {sayFields(changeOf(their, fields))}. Below, theirs is what goes and yours is what comes.
        </>
      }
      footer={
        <>
          <button
            type="button"
            onClick={() => {
              template.takeTheirs();
              onClose();
            }}
            className={`${buttonStyle.plain} h-10`}
          >
            Take theirs, drop mine
          </button>
          <button
            type="button"
            disabled={template.isSaving}
            onClick={() => void template.keepMine().then(onClose)}
            className={`${buttonStyle.danger} h-10`}
          >
            Save mine over theirs
          </button>
        </>
      }
    >
      <Diff before={their} after={fields} />
    </Dialog>
  );
}
