import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { pageSession } from "#server/trpc/caller";
import { Toasts } from "../console/_ui/toasts";
import { SignInFrame } from "../login/frame";
import { SignOutButton } from "./sign-out-button";

export const metadata: Metadata = { title: "No team" };

/** Where whoever is signed in and in no team is sent: what would help them. */
export default async function NoTeamPage() {
  const session = await pageSession();
  if (!session) redirect("/login");
  if (session.memberships.length > 0) redirect("/console");
  return (
    <SignInFrame
      title="You are in no team"
      description={`Ask an owner or an admin of a team to invite ${session.user.email}. The link that they get for you opens the team.`}
    >
      <SignOutButton />
      <Toasts />
    </SignInFrame>
  );
}
