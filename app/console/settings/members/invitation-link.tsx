"use client";

import { MailCheck, MailX } from "lucide-react";
import type { CreatedInvitationView } from "#server/trpc/members/views";
import { Dialog } from "../../_ui/dialog/dialog";
import { SecretText } from "../../_ui/dialog/secret-once";
import { Button } from "../../_ui/form/button";
import { When } from "../../_ui/text/when";

type Props = { title: string; invitation: CreatedInvitationView; onClose: () => void };

/** The link of an invitation, shown once, and whether it was also sent by email. */
export function InvitationLink({ title, invitation, onClose }: Props) {
  const { email, link, isMailed, mailFault, expiresAt } = invitation;
  const Icon = isMailed ? MailCheck : MailX;
  return (
    <Dialog open onOpenChange={onClose} title={title} isPersistent>
      <p
        className={`flex gap-2.5 rounded-lg px-3.5 py-2.5 leading-6 ${isMailed ? "bg-good-tint text-good" : "bg-warn-tint text-warn"}`}
      >
        <Icon className="mt-1 size-4 shrink-0" aria-hidden="true" />
        {isMailed
          ? `The invitation was emailed to ${email}. You can also share this link. It is shown only once.`
          : `This installation cannot send email. ${mailFault} Send the link to ${email} yourself. It is shown only once.`}
      </p>
      <SecretText text={link} label="Invitation link" />
      <p className="text-soft leading-6">
        It can be used once, by {email}, and expires <When at={expiresAt} />.
      </p>
      <div className="flex justify-end max-md:*:w-full">
        <Button tone="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
