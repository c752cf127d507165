import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { isWithoutUsers } from "#server/trpc/caller";
import { SignInFrame } from "../login/frame";
import { SetupForm } from "./setup-form";

export const metadata: Metadata = { title: "Set up", referrer: "no-referrer" };

/** Makes the first user, by the code that only whoever started this installation can know; there is no such page later. */
export default async function SetupPage() {
  if (!(await isWithoutUsers())) redirect("/login");
  return (
    <SignInFrame
      title="Set up Posthorn"
      description="Make the first user, who owns everything here. Further people are invited."
    >
      <SetupForm />
    </SignInFrame>
  );
}
