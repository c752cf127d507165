"use client";

import { Dialog } from "../../../_ui/dialog/dialog";
import { Button } from "../../../_ui/form/button";
import { When } from "../../../_ui/text/when";
import { Diff } from "../code/diff";
import { changeOf, fieldsOf, formatFieldNames } from "../fields";
import type { DialogProps } from "../use-template";

/** Compares the unsaved changes with a version that was saved in the meantime. The user selects one of them. */
export function ConflictDialog({ template, onClose }: DialogProps) {
  const { theirs, fields } = template;
  if (!theirs) return null;
  const their = fieldsOf(theirs);
  return (
    <Dialog
      open
      onOpenChange={onClose}
      size="wide"
      title="Conflicting changes"
      description={
        <>
          Another user saved this template after you started to edit it: <When at={theirs.updated_at} />. Your
          version differs in the {formatFieldNames(changeOf(their, fields))}. In the comparison, removed text
          is theirs and added text is yours.
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
