"use client";

import { ChevronsUpDown, LogOut } from "lucide-react";
import { useTheme } from "next-themes";
import { Menu } from "../dialog/menu";
import { signOutOfConsole } from "./sign-out";

const THEMES = [
  { value: "system", label: "System" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];

/** Shows the signed-in user and opens the account menu, which stays inside the landmark of the frame. */
export function AccountMenu({ email }: { email: string }) {
  const { theme = "system", setTheme } = useTheme();
  return (
    <Menu
      label="Account"
      align="start"
      isInline
      className="flex h-11 w-full min-w-0 items-center gap-2.5 rounded-lg px-2 text-left text-soft hover:bg-mute-tint hover:text-ink motion-safe:transition-colors md:h-10"
      choice={{ label: "Appearance", options: THEMES, value: theme, onChange: setTheme }}
      items={["line", { label: "Sign out", Icon: LogOut, onSelect: () => void signOutOfConsole() }]}
    >
      <span
        aria-hidden="true"
        className="grid size-6 shrink-0 place-items-center rounded-full bg-info-tint font-semibold text-info text-xs uppercase"
      >
        {[...email][0]}
      </span>
      <span className="truncate">{email}</span>
      <ChevronsUpDown className="ml-auto size-4 shrink-0" aria-hidden="true" />
    </Menu>
  );
}
