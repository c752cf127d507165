import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { isWithoutUsers, landingPath, pageSession, sendsOwnMail } from "#server/trpc/caller";
import { LoginForm } from "./form";
import { SignInFrame } from "./frame";

export const metadata: Metadata = { title: "Sign in" };

type Props = { searchParams: Promise<{ callbackUrl?: string | string[] }> };

/** Sign-in; whoever is signed in already is sent on, and where nobody is a user yet the first one is made. */
export default async function LoginPage({ searchParams }: Props) {
  const { callbackUrl } = await searchParams;
  const landing = landingPath(typeof callbackUrl === "string" ? callbackUrl : undefined);
  if (await pageSession()) redirect(landing);
  if (await isWithoutUsers()) redirect("/setup");
  return (
    <SignInFrame title="Sign in">
      <LoginForm landing={landing} sendsMail={await sendsOwnMail()} />
    </SignInFrame>
  );
}
