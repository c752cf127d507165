import type { Metadata } from "next";
import { SignInFrame } from "../frame";
import { ResetForm } from "./reset-form";

export const metadata: Metadata = { title: "Another password", referrer: "no-referrer" };

/** Where the link for another password leads. */
export default function ResetPage() {
  return (
    <SignInFrame title="Choose another password">
      <ResetForm />
    </SignInFrame>
  );
}
