"use client";

import { MailCheck, MailX } from "lucide-react";
import type { CreatedInvitationResponse } from "#server/shared/wire/people/invitation";
import { Dialog } from "../../_ui/dialog/dialog";
import { SecretText } from "../../_ui/dialog/secret-once";
import { Button } from "../../_ui/form/button";
import { When } from "../../_ui/text/when";

type Props = { title: string; invitation: CreatedInvitationResponse; onClose: () => void };

/** The link of an invitation, shown once, and whether it was also sent by email. */
export function InvitationLink({ title, invitation, onClose }: Props) {
  const { email, link, is_mailed, mail_fault, expires_at } = invitation;
  const Icon = is_mailed ? MailCheck : MailX;
  return (
    <Dialog open onOpenChange={onClose} title={title} isPersistent>
      <p
        className={`flex gap-2.5 rounded-lg px-3.5 py-2.5 leading-6 ${is_mailed ? "bg-good-tint text-good" : "bg-warn-tint text-warn"}`}
      >
        <Icon className="mt-1 size-4 shrink-0" aria-hidden="true" />
        {is_mailed
          ? `The invitation was emailed to ${email}. You can also share this link. It is shown only once.`
          : `This installation cannot send email. ${mail_fault} Send the link to ${email} yourself. It is shown only once.`}
      </p>
      <SecretText text={link} label="Invitation link" />
      <p className="text-soft leading-6">
        It can be used once, by {email}, and expires <When at={expires_at} />.
      </p>
      <div className="flex justify-end max-md:*:w-full">
        <Button tone="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
