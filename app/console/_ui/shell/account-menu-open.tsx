"use client";

import { Check, LogOut } from "lucide-react";
import { useTheme } from "next-themes";
import { DropdownMenu } from "radix-ui";
import { menuStyle } from "../dialog/menu-open";
import { AccountButtonFace, accountButtonStyle } from "./account-button";
import { signOutOfConsole } from "./sign-out";

const THEMES = [
  ["system", "System"],
  ["light", "Light"],
  ["dark", "Dark"],
] as const;

/** The account menu. It is open as soon as its code is loaded. */
export function OpenAccountMenu({ email }: { email: string }) {
  const { theme, setTheme } = useTheme();
  return (
    // Not modal: the page behind stays accessible. No portal: the menu must stay inside the landmark of the frame.
    <DropdownMenu.Root modal={false} defaultOpen>
      <DropdownMenu.Trigger className={accountButtonStyle}>
        <AccountButtonFace email={email} />
      </DropdownMenu.Trigger>
      <DropdownMenu.Content
        align="start"
        sideOffset={6}
        collisionPadding={8}
        className={`${menuStyle.box} w-54`}
      >
        <DropdownMenu.Label className={menuStyle.label}>Appearance</DropdownMenu.Label>
        <DropdownMenu.RadioGroup value={theme ?? "system"} onValueChange={setTheme}>
          {THEMES.map(([value, label]) => (
            <DropdownMenu.RadioItem key={value} value={value} className={`${menuStyle.item} pl-9`}>
              <DropdownMenu.ItemIndicator className="-ml-6.5">
                <Check className="size-4" aria-hidden="true" />
              </DropdownMenu.ItemIndicator>
              {label}
            </DropdownMenu.RadioItem>
          ))}
        </DropdownMenu.RadioGroup>
        <DropdownMenu.Separator className={menuStyle.line} />
        <DropdownMenu.Item onSelect={() => void signOutOfConsole()} className={menuStyle.item}>
          <LogOut className="size-4" aria-hidden="true" /> Sign out
        </DropdownMenu.Item>
      </DropdownMenu.Content>
    </DropdownMenu.Root>
  );
}
