"use client";

import { MailCheck, MailX } from "lucide-react";
import type { InvitedView } from "#server/trpc/member-views";
import { CopyButton } from "../../_ui/copy-button";
import { buttonStyle } from "../../_ui/styles";
import { When } from "../../_ui/when";

/** The link of an invitation, this once; and whether it is on its way by mail as well. */
export function InvitationLink({ invited, onStored }: { invited: InvitedView; onStored: () => void }) {
  const { email, link, isMailed, expiresAt } = invited;
  const Icon = isMailed ? MailCheck : MailX;
  return (
    <>
      <p
        className={`flex gap-2.5 rounded-lg px-3.5 py-2.5 leading-6 ${isMailed ? "bg-good-tint text-good" : "bg-warn-tint text-warn"}`}
      >
        <Icon className="mt-1 size-4 shrink-0" aria-hidden="true" />
        {isMailed
          ? `A link is on its way to ${email}. You may also hand over this one; it is shown this one time.`
          : `This installation sends no mail of its own, so hand the link to ${email} yourself. It is shown this one time.`}
      </p>
      <figure className="overflow-hidden rounded-lg border border-line bg-sunk">
        <figcaption className="sr-only">Link of the invitation</figcaption>
        <div className="flex items-center gap-2 py-2 pr-2 pl-3.5">
          <code className="min-w-0 grow select-all break-all font-mono text-xs leading-5">{link}</code>
          <CopyButton text={link} label="Copy the link" />
        </div>
      </figure>
      <p className="text-soft leading-6">
        It lets one person in, as {email}, and runs out <When at={expiresAt} />.
      </p>
      <div className="flex justify-end max-md:*:w-full">
        <button type="button" onClick={onStored} className={`${buttonStyle.primary} h-10`}>
          Done
        </button>
      </div>
    </>
  );
}
