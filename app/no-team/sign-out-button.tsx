"use client";

import { signOutOfConsole } from "../console/_ui/shell/sign-out";
import { buttonStyle } from "../console/_ui/styles";

export function SignOutButton() {
  return (
    <button
      type="button"
      onClick={() => void signOutOfConsole()}
      className={`${buttonStyle.plain} h-10 w-full`}
    >
      Sign out
    </button>
  );
}
