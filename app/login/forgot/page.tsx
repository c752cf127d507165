import type { Metadata } from "next";
import Link from "next/link";
import { sendsOwnMail } from "#server/trpc/caller";
import { CodeBlock } from "../../console/_ui/code-block";
import { linkStyle } from "../../console/_ui/styles";
import { SignInFrame } from "../frame";
import { AskForm } from "./ask-form";

export const metadata: Metadata = { title: "Another password" };

const BACK = (
  <Link href="/login" className={linkStyle}>
    Back to sign-in
  </Link>
);

/** For whoever lost a password: a link by mail, or where there is no mail, whom to ask. */
export default async function ForgotPage() {
  if (await sendsOwnMail())
    return (
      <SignInFrame
        title="Choose another password"
        description="A link by mail lets you choose one. It ends every session that you have."
        footer={BACK}
      >
        <AskForm />
      </SignInFrame>
    );
  return (
    <SignInFrame title="Choose another password" footer={BACK}>
      <div className="flex flex-col gap-4 leading-6">
        <p>This installation sends no mail of its own. Whoever runs it makes you a link with this command:</p>
        <CodeBlock label="Command" text="npm run -s posthorn -- user reset-password YOUR-ADDRESS" />
      </div>
    </SignInFrame>
  );
}
