"use client";

import type { FormEvent } from "react";
import { submitProof } from "../../auth-client";
import { SubmitButton } from "../../console/_ui/form/form";
import { FormFault } from "../../console/_ui/form/form-fault";
import { openNextPage, SIGN_IN_MESSAGES } from "../messages";
import { INVALID_LINK, LinkFault, useLink } from "../use-link";
import { useStep } from "../use-step";

const BACK = { href: "/login", label: "Back to sign-in" };
const MESSAGES = { ...SIGN_IN_MESSAGES, rejected: INVALID_LINK };

/** Signs in with an emailed link. Only the button uses the link. */
export function SignInByLink({ landing }: { landing: string }) {
  const link = useLink("sign_in_link");
  const { isBusy, fault, run } = useStep();
  if (fault === INVALID_LINK) return <LinkFault fault={fault} again={BACK} />;
  if ("fault" in link) return <LinkFault fault={link.fault} again={BACK} />;

  const submit = (event: FormEvent) => {
    event.preventDefault();
    void run("link", async () =>
      openNextPage(await submitProof("link", { token: link.token }, landing), MESSAGES),
    );
  };
  return (
    <form onSubmit={submit} className="flex min-h-28 flex-col gap-5 leading-6">
      <p className="break-words">
        You are about to sign in as <strong className="font-medium">{link.email}</strong>.
      </p>
      <FormFault fault={fault} />
      <SubmitButton isBusy={isBusy}>Sign in</SubmitButton>
    </form>
  );
}
