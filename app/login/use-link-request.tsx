"use client";

import { MailCheck } from "lucide-react";
import { useState } from "react";
import { linkStyle } from "../console/_ui/styles";
import { type EmailedLink, requestLink } from "./auth-requests";
import { useStep } from "./use-step";

const MINUTES: Record<EmailedLink, number> = { sign_in_link: 15, password_reset: 30 };

/** The step that requests an emailed link. After it, `confirmation` replaces the form. */
export function useLinkRequest(kind: EmailedLink, landing: string) {
  const step = useStep();
  const [sentTo, setSentTo] = useState<string | null>(null);
  const request = (email: string) =>
    step.run("link", async () => {
      const response = await requestLink(kind, email, landing);
      if (!response.ok) return response.fault;
      setSentTo(email);
      return null;
    });
  const goBack = () => {
    setSentTo(null);
    step.reset();
  };
  const confirmation = sentTo === null ? null : <LinkSent kind={kind} email={sentTo} onBack={goBack} />;
  return { ...step, request, confirmation };
}

type LinkSentProps = { kind: EmailedLink; email: string; onBack: () => void };

/** Confirms the request for a link. Does not reveal whether the address has an account. */
function LinkSent({ kind, email, onBack }: LinkSentProps) {
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
