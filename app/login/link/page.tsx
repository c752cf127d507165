import type { Metadata } from "next";
import { landingPath } from "#server/trpc/caller";
import { SignInFrame } from "../frame";
import { SignInByLink } from "./sign-in-by-link";

export const metadata: Metadata = { title: "Sign in", referrer: "no-referrer" };

type Props = { searchParams: Promise<{ callbackUrl?: string | string[] }> };

/** The target of a sign-in link. Opening it does not use the link, because mail scanners also open links. */
export default async function LinkPage({ searchParams }: Props) {
  const { callbackUrl } = await searchParams;
  return (
    <SignInFrame title="Sign in">
      <SignInByLink landing={landingPath(typeof callbackUrl === "string" ? callbackUrl : undefined)} />
    </SignInFrame>
  );
}
