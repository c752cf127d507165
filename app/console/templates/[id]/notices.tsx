"use client";

import { History, type LucideIcon, Users } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "../../_ui/form/button";
import { When } from "../../_ui/text/when";
import type { OpenTemplate } from "./state/use-template";

type Props = { template: OpenTemplate; onConflict: () => void };

/** Notices above the editor: unsaved changes were restored, or another user saved the template. */
export function Notices({ template, onConflict }: Props) {
  const { theirs, isRestored, isDirty } = template;
  return (
    <div aria-live="polite" className="mb-4 flex flex-col gap-3 empty:hidden">
      {theirs ? (
        <Notice style="bg-warn-tint text-warn" Icon={Users} action="Compare" onAction={onConflict}>
          This template was saved by another user or in another tab <When at={theirs.updated_at} />. Your
          changes are not saved.
        </Notice>
      ) : null}
      {isRestored && isDirty ? (
        <Notice style="bg-info-tint text-info" Icon={History} action="Discard" onAction={template.discard}>
          Your unsaved changes were restored.
        </Notice>
      ) : null}
    </div>
  );
}

type NoticeProps = {
  style: string;
  Icon: LucideIcon;
  action: string;
  onAction: () => void;
  children: ReactNode;
};

function Notice({ style, Icon, action, onAction, children }: NoticeProps) {
  return (
    <div
      className={`flex flex-wrap items-center gap-x-4 gap-y-2 rounded-lg px-3.5 py-2.5 leading-6 ${style}`}
    >
      <Icon className="size-4 shrink-0" aria-hidden="true" />
      <p className="min-w-0 grow">{children}</p>
      <Button isSmall onClick={onAction} className="text-ink">
        {action}
      </Button>
    </div>
  );
}
