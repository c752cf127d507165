import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { pageSession } from "#server/trpc/caller";
import { Toasts } from "../console/_ui/dialog/toasts";
import { SignInFrame } from "../login/frame";
import { SignOutButton } from "./sign-out-button";

export const metadata: Metadata = { title: "No team" };

/** For a signed-in user without a team: explains how to join one. */
export default async function NoTeamPage() {
  const session = await pageSession();
  if (!session) redirect("/login");
  if (session.memberships.length > 0) redirect("/console");
  return (
    <SignInFrame
      title="You are not a member of any team"
      description={`Ask an owner or an admin of a team to invite ${session.user.email}. The invitation link adds you to the team.`}
    >
      <SignOutButton />
      <Toasts />
    </SignInFrame>
  );
}
