import type { Metadata } from "next";
import Link from "next/link";
import { redirect } from "next/navigation";
import { pendingTwoFactorStep } from "#server/trpc/account/sign-in-pages";
import { landingPath, pageSession } from "#server/trpc/caller";
import { linkStyle } from "../../console/_ui/styles";
import { SignInFrame } from "../frame";
import { TwoFactorForm } from "./two-factor-form";

export const metadata: Metadata = { title: "Two-factor authentication" };

type Props = { searchParams: Promise<{ callbackUrl?: string | string[] }> };

/**
 * Two-factor authentication after a successful first step. Without one, redirects to the start of the
 * sign-in.
 */
export default async function TwoFactorPage({ searchParams }: Props) {
  const { callbackUrl } = await searchParams;
  const landing = landingPath(typeof callbackUrl === "string" ? callbackUrl : undefined);
  const step = await pendingTwoFactorStep();
  if (!step) redirect((await pageSession()) ? landing : `/login?callbackUrl=${encodeURIComponent(landing)}`);
  return (
    <SignInFrame
      title="Two-factor authentication"
      description={<span className="break-words">Signing in as {step.email}.</span>}
      footer={
        <Link href="/login" className={linkStyle}>
          Use another account
        </Link>
      }
    >
      <TwoFactorForm landing={landing} hasApp={step.hasTotp} hasPasskey={step.hasPasskey} />
    </SignInFrame>
  );
}
