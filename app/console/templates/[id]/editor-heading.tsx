"use client";

import { Code, Copy, History, PenLine, Send, Trash2, Undo2 } from "lucide-react";
import { Menu } from "../../_ui/dialog/menu";
import { Button } from "../../_ui/form/button";
import { PageHeading } from "../../_ui/page/page-heading";
import { useDisabledReason } from "../../_ui/page/permission";
import { useConsoleHref } from "../../_ui/team";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
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
  const trpc = useTRPC();
  const hrefOf = useConsoleHref();
  const disabledReason = useDisabledReason();
  const why = disabledReason("templates:write", "change templates");
  const whyNotSend = disabledReason("emails:send", "send emails");
  const duplicate = useAction(trpc.templates.duplicate.mutationOptions(), {
    done: "Duplicated as a draft",
    refresh: [trpc.templates.list.queryKey()],
    goTo: ({ id: copy }) => hrefOf(`/console/templates/${copy}`),
  });
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
