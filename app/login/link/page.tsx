import type { Metadata } from "next";
import { landingPath } from "#server/trpc/caller";
import { SignInFrame } from "../frame";
import { OpenLink } from "./open-link";

export const metadata: Metadata = { title: "Sign in", referrer: "no-referrer" };

type Props = { searchParams: Promise<{ callbackUrl?: string | string[] }> };

/** Where a mailed link leads. Looking at it uses nothing up: programs that read mail look at links, too. */
export default async function LinkPage({ searchParams }: Props) {
  const { callbackUrl } = await searchParams;
  return (
    <SignInFrame title="Sign in">
      <OpenLink landing={landingPath(typeof callbackUrl === "string" ? callbackUrl : undefined)} />
    </SignInFrame>
  );
}
