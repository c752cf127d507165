"use client";

import { Ban, CalendarClock, CircleHelp, Code, CopyPlus, Download, Link2, RotateCcw } from "lucide-react";
import { useState } from "react";
import type { EmailView } from "#server/trpc/emails/views";
import { Menu } from "../../_ui/dialog/menu";
import { showSuccess } from "../../_ui/dialog/toasts";
import { Button } from "../../_ui/form/button";
import { lazyDialog } from "../../_ui/page/lazy-part";
import { useDisabledReason } from "../../_ui/page/permission";
import { copyText } from "../../_ui/text/copy-button";
import { retryableRecipients } from "./attempts";
import { sourceHref } from "./message-tabs";

const load = () => import("./dialogs");
const DIALOGS = {
  retry: lazyDialog(async () => (await load()).RetryDialog),
  settle: lazyDialog(async () => (await load()).ResolveDialog),
  reschedule: lazyDialog(async () => (await load()).RescheduleDialog),
  cancel: lazyDialog(async () => (await load()).CancelDialog),
  curl: lazyDialog(async () => (await load()).CurlDialog),
  again: lazyDialog(async () => (await import("./send-again-dialog")).SendAgainDialog),
};

/** The actions that are possible in the current state of the email. */
export function EmailActions({ teamId, email }: { teamId: string; email: EmailView }) {
  const [opened, setOpened] = useState<keyof typeof DIALOGS | null>(null);
  const Opened = opened && DIALOGS[opened];
  const disabledReason = useDisabledReason()("emails:send", "retry, cancel, reschedule or send emails");
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
  return (
    <>
      {actions.map(([name, label, Icon]) => (
        <Button
          key={name}
          isSmall
          Icon={Icon}
          disabledReason={disabledReason}
          onClick={() => setOpened(name)}
        >
          {label}
        </Button>
      ))}
      <Menu
        label="More actions"
        items={[
          {
            label: "Send again as new…",
            Icon: CopyPlus,
            why: disabledReason ?? email.sendAgainFault ?? undefined,
            onSelect: () => setOpened("again"),
          },
          { label: "Download .eml", Icon: Download, href: sourceHref(teamId, email.id) },
          { label: "Copy as curl…", Icon: Code, onSelect: () => setOpened("curl") },
          {
            label: "Copy link",
            Icon: Link2,
            onSelect: () => {
              const link = `${window.location.origin}/console/emails/${email.id}?team=${teamId}`;
              void copyText(link).then((isCopied) => showSuccess(isCopied ? "Link copied" : link));
            },
          },
        ]}
      />
      {Opened ? <Opened teamId={teamId} email={email} onClose={() => setOpened(null)} /> : null}
    </>
  );
}
