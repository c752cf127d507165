import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { hasNoUsers } from "#server/trpc/caller";
import { SignInFrame } from "../login/frame";
import { SetupForm } from "./setup-form";

export const metadata: Metadata = { title: "Set up", referrer: "no-referrer" };

/**
 * Creates the first user with the setup code, which only the operator can read. Redirects to sign-in once a
 * user exists.
 */
export default async function SetupPage() {
  if (!(await hasNoUsers())) redirect("/login");
  return (
    <SignInFrame
      title="Set up Backstamp"
      description="Create the first user. This user becomes the owner and can invite others."
    >
      <SetupForm />
    </SignInFrame>
  );
}
