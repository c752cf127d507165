"use client";

import { type FormEvent, useState } from "react";
import { requestLink } from "../auth-requests";
import { EmailField, WideSubmitButton } from "../fields";
import { LinkSent } from "../link-sent";
import { useStep } from "../use-step";

/** Requests a password reset link. */
export function RequestForm() {
  const { isBusy, fault, run, reset } = useStep();
  const [linkSentTo, setLinkSentTo] = useState<string | null>(null);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const email = String(new FormData(event.currentTarget).get("email"));
    void run("link", async () => {
      const response = await requestLink("password_reset", email, "/console");
      if (!response.ok) return response.fault;
      setLinkSentTo(email);
      return null;
    });
  };
  const goBack = () => {
    setLinkSentTo(null);
    reset();
  };
  if (linkSentTo !== null) return <LinkSent kind="password_reset" email={linkSentTo} onBack={goBack} />;
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <EmailField error={fault} />
      <WideSubmitButton isBusy={isBusy}>Email me a link</WideSubmitButton>
    </form>
  );
}
