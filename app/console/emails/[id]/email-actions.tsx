"use client";

import { Ban, CalendarClock, CircleHelp, Code, Download, Link2, RotateCcw } from "lucide-react";
import { type ComponentType, Suspense, useState } from "react";
import type { EmailView } from "#server/trpc/emails/views";
import { Menu } from "../../_ui/dialog/menu";
import { showSuccess } from "../../_ui/dialog/toasts";
import { ActionButton } from "../../_ui/form/action-button";
import { lazyPart } from "../../_ui/page/lazy-part";
import { useDisabledReason } from "../../_ui/page/permission";
import { buttonStyle } from "../../_ui/styles";
import { copyText } from "../../_ui/text/copy-text";
import { sourceHref } from "./message-source";

export type EmailDialogProps = {
  teamId: string;
  email: EmailView;
  open: boolean;
  onOpenChange: (open: boolean) => void;
};

const load = () => import("./dialogs");
const DIALOGS = {
  retry: lazyPart(async () => (await load()).RetryDialog),
  settle: lazyPart(async () => (await load()).ResolveDialog),
  reschedule: lazyPart(async () => (await load()).RescheduleDialog),
  cancel: lazyPart(async () => (await load()).CancelDialog),
  curl: lazyPart(async () => (await load()).CurlDialog),
} satisfies Record<string, ComponentType<EmailDialogProps>>;
type DialogName = keyof typeof DIALOGS;

const RETRYABLE = new Set(["failed", "bounced", "deferred"]);

/** The recipients to whom the email can be sent again without the risk of a duplicate. */
export const retryableRecipients = ({ recipients }: EmailView) =>
  recipients.filter(({ status }) => RETRYABLE.has(status));

/** The actions that are possible in the current state of the email. */
export function EmailActions({ teamId, email }: { teamId: string; email: EmailView }) {
  const [openDialog, setOpenDialog] = useState<DialogName | null>(null);
  const [opened, setOpened] = useState<ReadonlySet<DialogName>>(new Set());
  const disabledReason = useDisabledReason()("emails:send", "retry, cancel or reschedule emails");
  const isScheduled = email.recipients.every(({ status }) => status === "scheduled");
  const isUnknown = email.recipients.some(({ status }) => status === "unknown");
  const actions = (
    [
      ["settle", "Resolve…", CircleHelp, isUnknown],
      ["retry", "Retry…", RotateCcw, retryableRecipients(email).length > 0],
      ["cancel", "Cancel…", Ban, isScheduled],
      ["reschedule", "Reschedule…", CalendarClock, isScheduled],
    ] as const
  ).filter(([, , , isAvailable]) => isAvailable);
  const show = (name: DialogName) => {
    setOpened(new Set([...opened, name]));
    setOpenDialog(name);
  };
  return (
    <>
      {actions.map(([name, label, Icon]) => (
        <ActionButton
          key={name}
          disabledReason={disabledReason}
          onClick={() => show(name)}
          className={`${buttonStyle.plain} h-9`}
        >
          <Icon className="size-4" aria-hidden="true" /> {label}
        </ActionButton>
      ))}
      <Menu
        label="More"
        className={`${buttonStyle.plain} h-9`}
        items={[
          { label: "Download .eml", Icon: Download, href: sourceHref(teamId, email.id) },
          { label: "Copy as curl…", Icon: Code, onSelect: () => show("curl") },
          {
            label: "Copy link",
            Icon: Link2,
            onSelect: () => {
              const link = `${window.location.origin}/console/emails/${email.id}?team=${teamId}`;
              void copyText(link).then((isCopied) => showSuccess(isCopied ? "Link copied" : link));
            },
          },
        ]}
      >
        More
      </Menu>
      {[...opened].map((name) => {
        const Open: ComponentType<EmailDialogProps> = DIALOGS[name];
        return (
          <Suspense key={name}>
            <Open
              teamId={teamId}
              email={email}
              open={openDialog === name}
              onOpenChange={(open) => setOpenDialog(open ? name : null)}
            />
          </Suspense>
        );
      })}
    </>
  );
}
