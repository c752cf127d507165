"use client";

import { MailCheck, MailX } from "lucide-react";
import type { CreatedInvitationView } from "#server/trpc/members/views";
import { buttonStyle } from "../../_ui/styles";
import { CopyButton } from "../../_ui/text/copy-button";
import { When } from "../../_ui/text/when";

/** The link of an invitation, shown once, and whether it was also sent by email. */
export function InvitationLink({
  invited,
  onStored,
}: {
  invited: CreatedInvitationView;
  onStored: () => void;
}) {
  const { email, link, isMailed, mailFault, expiresAt } = invited;
  const Icon = isMailed ? MailCheck : MailX;
  return (
    <>
      <p
        className={`flex gap-2.5 rounded-lg px-3.5 py-2.5 leading-6 ${isMailed ? "bg-good-tint text-good" : "bg-warn-tint text-warn"}`}
      >
        <Icon className="mt-1 size-4 shrink-0" aria-hidden="true" />
        {isMailed
          ? `The invitation was emailed to ${email}. You can also share this link. It is shown only once.`
          : `This installation cannot send email. ${mailFault} Send the link to ${email} yourself. It is shown only once.`}
      </p>
      <figure className="overflow-hidden rounded-lg border border-line bg-sunk">
        <figcaption className="sr-only">Invitation link</figcaption>
        <div className="flex items-center gap-2 py-2 pr-2 pl-3.5">
          <code className="min-w-0 grow select-all break-all font-mono text-xs leading-5">{link}</code>
          <CopyButton text={link} label="Copy link" />
        </div>
      </figure>
      <p className="text-soft leading-6">
        It can be used once, by {email}, and expires <When at={expiresAt} />.
      </p>
      <div className="flex justify-end max-md:*:w-full">
        <button type="button" onClick={onStored} className={`${buttonStyle.primary} h-10`}>
          Done
        </button>
      </div>
    </>
  );
}
