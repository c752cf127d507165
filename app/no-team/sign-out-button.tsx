"use client";

import { leaveConsole } from "../console/_ui/leave";
import { buttonStyle } from "../console/_ui/styles";

export function SignOutButton() {
  return (
    <button type="button" onClick={() => void leaveConsole()} className={`${buttonStyle.plain} h-10 w-full`}>
      Sign out
    </button>
  );
}
