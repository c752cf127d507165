"use client";

import { lazyDialog } from "../page/lazy-part";
import { useSignedOut } from "./signed-out";

const SignInAgain = lazyDialog(async () => (await import("./sign-in-again")).SignInAgain);

/** Asks the user to sign in again when the session has expired. The page and what was typed on it stay. */
export const SessionWatch = ({ email }: { email: string }) =>
  useSignedOut() ? <SignInAgain email={email} /> : null;
