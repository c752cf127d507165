"use client";

import { EmailField, takeFields, WideSubmitButton } from "../fields";
import { useLinkRequest } from "../use-link-request";

/** Requests a password reset link. */
export function RequestForm() {
  const { isBusy, fault, request, confirmation } = useLinkRequest("password_reset", "/console");
  if (confirmation) return confirmation;
  return (
    <form
      onSubmit={(event) => void request(takeFields(event, "email").email)}
      className="flex flex-col gap-4"
    >
      <EmailField error={fault} />
      <WideSubmitButton isBusy={isBusy}>Email me a link</WideSubmitButton>
    </form>
  );
}
