import { MailCheck } from "lucide-react";
import { linkStyle } from "../console/_ui/styles";
import type { MailedLink } from "./calls";

const MINUTES: Record<MailedLink, number> = { sign_in_link: 15, password_reset: 30 };

type LinkSentProps = { kind: MailedLink; email: string; onBack: () => void };

/** What was asked for is under way, if anybody has that address; that is for the mailbox to tell. */
export function LinkSent({ kind, email, onBack }: LinkSentProps) {
  return (
    <div className="flex flex-col gap-4 leading-6" role="status">
      <MailCheck className="size-7 text-good" aria-hidden="true" />
      <p className="break-words">
        If <strong className="font-medium">{email}</strong> has an account here, a link is on its way. It
        opens once, within {MINUTES[kind]} minutes.
      </p>
      <p className="text-soft">Nothing after a few minutes? Look among the spam, or check the address.</p>
      <p>
        <button type="button" onClick={onBack} className={linkStyle}>
          Back
        </button>
      </p>
    </div>
  );
}
