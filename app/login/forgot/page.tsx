import type { Metadata } from "next";
import Link from "next/link";
import { cliCommand, systemEmailFault } from "#server/trpc/caller";
import { linkStyle } from "../../console/_ui/styles";
import { CodeBlock } from "../../console/_ui/text/code-block";
import { SignInFrame } from "../frame";
import { RequestForm } from "./request-form";

export const metadata: Metadata = { title: "Reset password" };

const BACK = (
  <Link href="/login" className={linkStyle}>
    Back to sign-in
  </Link>
);

/**
 * Requests a reset link by email. If the installation cannot send email, shows the command for the operator.
 */
export default async function ForgotPage() {
  const fault = await systemEmailFault();
  if (fault === null)
    return (
      <SignInFrame
        title="Reset your password"
        description="You receive a link to set a new password. Setting it ends all your sessions."
        footer={BACK}
      >
        <RequestForm />
      </SignInFrame>
    );
  return (
    <SignInFrame title="Reset your password" footer={BACK}>
      <div className="flex flex-col gap-4 leading-6">
        <p>This installation cannot send email. {fault}</p>
        <p>Ask the operator to create a reset link with this command:</p>
        <CodeBlock label="Command" text={`${cliCommand()} user reset-password YOUR-ADDRESS`} />
      </div>
    </SignInFrame>
  );
}
