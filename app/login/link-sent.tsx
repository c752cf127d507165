import { MailCheck } from "lucide-react";
import { linkStyle } from "../console/_ui/styles";
import type { EmailedLink } from "./auth-requests";

const MINUTES: Record<EmailedLink, number> = { sign_in_link: 15, password_reset: 30 };

type LinkSentProps = { kind: EmailedLink; email: string; onBack: () => void };

/** Confirms the request for a link. Does not reveal whether the address has an account. */
export function LinkSent({ kind, email, onBack }: LinkSentProps) {
  return (
    <div className="flex flex-col gap-4 leading-6" role="status">
      <MailCheck className="size-7 text-good" aria-hidden="true" />
      <p className="break-words">
        If <strong className="font-medium">{email}</strong> has an account here, you will receive a link. It
        works once, within {MINUTES[kind]} minutes.
      </p>
      <p className="text-soft">No email after a few minutes? Check your spam folder and the address.</p>
      <p>
        <button type="button" onClick={onBack} className={linkStyle}>
          Back
        </button>
      </p>
    </div>
  );
}
