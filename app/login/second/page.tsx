import type { Metadata } from "next";
import Link from "next/link";
import { redirect } from "next/navigation";
import { landingPath, pageSession } from "#server/trpc/caller";
import { pageStep } from "#server/trpc/sign-in-pages";
import { linkStyle } from "../../console/_ui/styles";
import { SignInFrame } from "../frame";
import { SecondStepForm } from "./second-form";

export const metadata: Metadata = { title: "One more step" };

type Props = { searchParams: Promise<{ callbackUrl?: string | string[] }> };

/** Asks for the second proof of whoever gave a first one a moment ago; everybody else begins at the beginning. */
export default async function SecondStepPage({ searchParams }: Props) {
  const { callbackUrl } = await searchParams;
  const landing = landingPath(typeof callbackUrl === "string" ? callbackUrl : undefined);
  const step = await pageStep();
  if (!step) redirect((await pageSession()) ? landing : `/login?callbackUrl=${encodeURIComponent(landing)}`);
  return (
    <SignInFrame
      title="One more step"
      description={<span className="break-words">To let {step.email} in, one more proof is needed.</span>}
      footer={
        <Link href="/login" className={linkStyle}>
          Sign in as somebody else
        </Link>
      }
    >
      <SecondStepForm landing={landing} hasApp={step.hasTotp} hasPasskey={step.hasPasskey} />
    </SignInFrame>
  );
}
