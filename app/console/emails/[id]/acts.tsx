"use client";

import { Ban, CalendarClock, CircleHelp, Code, Download, Link2, RotateCcw } from "lucide-react";
import { type ComponentType, Suspense, useState } from "react";
import type { EmailView } from "#server/trpc/email-views";
import { ActButton } from "../../_ui/act-button";
import { copyText } from "../../_ui/copy-text";
import { lazyPart } from "../../_ui/lazy-part";
import { Menu } from "../../_ui/menu";
import { useWhyNot } from "../../_ui/no-right";
import { buttonStyle } from "../../_ui/styles";
import { sayDone } from "../../_ui/toasts";
import { sourceHref } from "./message-source";

export type ActProps = {
  teamId: string;
  email: EmailView;
  open: boolean;
  onOpenChange: (open: boolean) => void;
};

const DIALOGS = {
  retry: lazyPart(async () => (await import("./retry-dialog")).RetryDialog),
  settle: lazyPart(async () => (await import("./settle-dialog")).SettleDialog),
  reschedule: lazyPart(async () => (await import("./reschedule-dialog")).RescheduleDialog),
  cancel: lazyPart(async () => (await import("./cancel-dialog")).CancelDialog),
  call: lazyPart(async () => (await import("./call-dialog")).CallDialog),
} satisfies Record<string, ComponentType<ActProps>>;
type Asked = keyof typeof DIALOGS;

const RETRYABLE = new Set(["failed", "bounced", "deferred"]);

/** The recipients to whom a mail can be sent again without any doubt. */
export const retryable = ({ recipients }: EmailView) =>
  recipients.filter(({ status }) => RETRYABLE.has(status));

/** What can be done with this mail as it stands: only that is offered. */
export function Acts({ teamId, email }: { teamId: string; email: EmailView }) {
  const [asked, setAsked] = useState<Asked | null>(null);
  const [opened, setOpened] = useState<ReadonlySet<Asked>>(new Set());
  const whyNot = useWhyNot()("emails:send", "retry, cancel or move mail");
  const isScheduled = email.recipients.every(({ status }) => status === "scheduled");
  const offers = [
    {
      name: "settle" as const,
      label: "Decide…",
      Icon: CircleHelp,
      isOffered: email.recipients.some(({ status }) => status === "unknown"),
    },
    { name: "retry" as const, label: "Retry…", Icon: RotateCcw, isOffered: retryable(email).length > 0 },
    { name: "cancel" as const, label: "Cancel…", Icon: Ban, isOffered: isScheduled },
    { name: "reschedule" as const, label: "Reschedule…", Icon: CalendarClock, isOffered: isScheduled },
  ].filter(({ isOffered }) => isOffered);
  const ask = (name: Asked) => {
    setOpened(new Set([...opened, name]));
    setAsked(name);
  };
  return (
    <>
      {offers.map(({ name, label, Icon }) => (
        <ActButton
          key={name}
          whyNot={whyNot}
          onClick={() => ask(name)}
          className={`${buttonStyle.plain} h-9`}
        >
          <Icon className="size-4" aria-hidden="true" /> {label}
        </ActButton>
      ))}
      <Menu
        label="More"
        className={`${buttonStyle.plain} h-9`}
        items={[
          { label: "Download .eml", Icon: Download, href: sourceHref(teamId, email.id) },
          { label: "Copy as curl…", Icon: Code, onSelect: () => ask("call") },
          {
            label: "Copy link",
            Icon: Link2,
            onSelect: () => {
              const link = `${window.location.origin}/console/emails/${email.id}?team=${teamId}`;
              void copyText(link).then((isCopied) => sayDone(isCopied ? "Link copied" : link));
            },
          },
        ]}
      >
        More
      </Menu>
      {[...opened].map((name) => {
        const Open: ComponentType<ActProps> = DIALOGS[name];
        return (
          <Suspense key={name}>
            <Open
              teamId={teamId}
              email={email}
              open={asked === name}
              onOpenChange={(open) => setAsked(open ? name : null)}
            />
          </Suspense>
        );
      })}
    </>
  );
}
