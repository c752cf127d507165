"use client";

import { History, Users } from "lucide-react";
import { buttonStyle } from "../../_ui/styles";
import { When } from "../../_ui/text/when";
import type { OpenTemplate } from "./use-template";

type Props = { template: OpenTemplate; onConflict: () => void };

/** Notices above the editor: unsaved changes were restored, or another user saved the template. */
export function Notices({ template, onConflict }: Props) {
  const { theirs, isRestored, isDirty } = template;
  return (
    <div aria-live="polite" className="mb-4 flex flex-col gap-3 empty:hidden">
      {theirs ? (
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2 rounded-lg bg-warn-tint px-3.5 py-2.5 text-warn leading-6">
          <Users className="size-4 shrink-0" aria-hidden="true" />
          <p className="min-w-0 grow">
            Another user saved this template <When at={theirs.updated_at} />. Your changes are not saved.
          </p>
          <button type="button" onClick={onConflict} className={`${buttonStyle.plain} h-9 text-ink`}>
            Compare
          </button>
        </div>
      ) : null}
      {isRestored && isDirty ? (
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2 rounded-lg bg-info-tint px-3.5 py-2.5 text-info leading-6">
          <History className="size-4 shrink-0" aria-hidden="true" />
          <p className="min-w-0 grow">Your unsaved changes were restored.</p>
          <button type="button" onClick={template.discard} className={`${buttonStyle.plain} h-9 text-ink`}>
            Discard
          </button>
        </div>
      ) : null}
    </div>
  );
}
