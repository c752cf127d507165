"use client";

import { Button } from "../console/_ui/form/button";
import { signOutOfConsole } from "../console/_ui/shell/sign-out";

export const SignOutButton = () => (
  <Button className="w-full" onClick={() => void signOutOfConsole()}>
    Sign out
  </Button>
);
