import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { isWithoutUsers, landingPath, pageSession, sendsOwnMail } from "#server/trpc/caller";
import { otherWays } from "#server/trpc/sign-in-pages";
import { sayError } from "./faults";
import { LoginForm } from "./form";
import { SignInFrame } from "./frame";
import { OtherWaysIn } from "./other-ways";

export const metadata: Metadata = { title: "Sign in" };

type Props = { searchParams: Promise<{ callbackUrl?: string | string[]; error?: string | string[] }> };

/** Sign-in; whoever is signed in already is sent on, and where nobody is a user yet the first one is made. */
export default async function LoginPage({ searchParams }: Props) {
  const { callbackUrl, error } = await searchParams;
  const landing = landingPath(typeof callbackUrl === "string" ? callbackUrl : undefined);
  if (await pageSession()) redirect(landing);
  if (await isWithoutUsers()) redirect("/setup");
  const said = sayError(typeof error === "string" ? error : undefined);
  return (
    <SignInFrame title="Sign in">
      {said ? (
        <p role="alert" className="mb-5 rounded-lg bg-bad-tint px-3.5 py-2.5 text-bad leading-6">
          {said}
        </p>
      ) : null}
      <LoginForm landing={landing} sendsMail={await sendsOwnMail()} />
      <OtherWaysIn ways={otherWays()} landing={landing} />
    </SignInFrame>
  );
}
