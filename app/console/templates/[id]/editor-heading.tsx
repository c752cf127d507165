"use client";

import { Code, Copy, History, type LucideIcon, PenLine, Send, Trash2, Undo2, Users } from "lucide-react";
import type { ReactNode } from "react";
import { Menu } from "../../_ui/dialog/menu";
import { Button } from "../../_ui/form/button";
import { PageHeading } from "../../_ui/page/page-heading";
import { useDisabledReason } from "../../_ui/page/permission";
import { useConsoleHref } from "../../_ui/team";
import { When } from "../../_ui/text/when";
import { useDuplicate } from "../use-duplicate";
import type { DialogName, OpenTemplate } from "./state/use-template";
import { TemplateStateBadge } from "./state-badge";

type Props = {
  teamId: string;
  id: string;
  template: OpenTemplate;
  /** The changes are about to be saved without an action of the user. */
  isSaveDue: boolean;
  onOpen: (dialog: DialogName) => void;
};

/** The name and state of the template, with all actions. */
export function EditorHeading({ teamId, id, template, isSaveDue, onOpen }: Props) {
  const hrefOf = useConsoleHref();
  const disabledReason = useDisabledReason();
  const why = disabledReason("templates:write", "change templates");
  const whyNotSend = disabledReason("emails:send", "send emails");
  const duplicate = useDuplicate();
  const { latest, base, isDirty, isSaving } = template;
  const { number, publishedNumber } = base;
  const isLive = publishedNumber === number && !isDirty;

  return (
    <PageHeading
      title={latest.name}
      badge={<TemplateStateBadge currentNumber={number} publishedNumber={publishedNumber} />}
      back={{ href: "/console/templates", label: "Templates" }}
      description={
        <p className="flex flex-wrap items-center gap-x-2">
          <code className="wrap-anywhere font-mono text-xs">{latest.alias ?? latest.id}</code>
          <span aria-hidden="true">·</span>
          <span>version {number}</span>
          <span aria-hidden="true">·</span>
          <span role="status">
            {isSaving || isSaveDue ? (
              "Saving…"
            ) : isDirty ? (
              <span className="font-medium text-warn">Not saved</span>
            ) : template.isSavedHere ? (
              "Saved"
            ) : (
              <>
                Saved <When at={latest.updated_at} />
              </>
            )}
          </span>
        </p>
      }
      actions={
        <>
          <Button Icon={Send} disabledReason={whyNotSend ?? why} onClick={() => onOpen("test")}>
            Send test…
          </Button>
          <Button
            disabledReason={why}
            disabled={!isDirty || isSaving}
            title="Ctrl+S"
            onClick={() => void template.save()}
          >
            Save draft
          </Button>
          <Button
            tone="primary"
            disabledReason={why ?? (isLive ? "This version is already published." : undefined)}
            disabled={isSaving}
            onClick={() => onOpen("publish")}
          >
            Publish…
          </Button>
          <Menu
            label="More actions"
            items={[
              { label: "Versions", Icon: History, href: hrefOf(`/console/templates/${id}/versions`) },
              { label: "Send with the API…", Icon: Code, onSelect: () => onOpen("api") },
              { label: "Name and alias…", Icon: PenLine, why, onSelect: () => onOpen("name") },
              { label: "Duplicate", Icon: Copy, why, onSelect: () => duplicate.run({ team: teamId, id }) },
              ...(isDirty
                ? [{ label: "Discard unsaved changes", Icon: Undo2, onSelect: template.discard }]
                : []),
              "line",
              { label: "Delete…", Icon: Trash2, tone: "bad", why, onSelect: () => onOpen("delete") },
            ]}
          />
        </>
      }
    />
  );
}

/** Notices above the editor: unsaved changes were restored, or another user saved the template. */
export function Notices({ template, onConflict }: { template: OpenTemplate; onConflict: () => void }) {
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
