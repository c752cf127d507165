import type { Metadata } from "next";
import { SignInFrame } from "../frame";
import { ResetForm } from "./reset-form";

export const metadata: Metadata = { title: "Reset password", referrer: "no-referrer" };

/** The target of a password reset link. */
export default function ResetPage() {
  return (
    <SignInFrame title="Reset your password">
      <ResetForm />
    </SignInFrame>
  );
}
