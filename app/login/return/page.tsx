import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { pageSession } from "#server/trpc/caller";
import { SignInFrame } from "../frame";
import { ReturnToPage } from "./return-to-page";

export const metadata: Metadata = { title: "Signed in" };

/**
 * The end of a sign-in in its own window, which a page of the console opened because its session had ended.
 */
export default async function ReturnPage() {
  if (!(await pageSession())) redirect(`/login?callbackUrl=${encodeURIComponent("/login/return")}`);
  return (
    <SignInFrame
      title="You are signed in"
      description="Close this window and continue on the page that opened it."
    >
      <ReturnToPage />
    </SignInFrame>
  );
}
