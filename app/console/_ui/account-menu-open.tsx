"use client";

import { Check } from "lucide-react";
import { useTheme } from "next-themes";
import { DropdownMenu } from "radix-ui";
import { signOut } from "../../auth-client";
import { AccountButtonFace, accountButtonStyle } from "./account-button";
import { useTeam } from "./team";

const itemStyle =
  "flex cursor-pointer select-none items-center gap-2 rounded-md px-2 py-1.5 outline-none data-[highlighted]:bg-sunk";
const labelStyle = "px-2 pt-2 pb-1 text-soft text-xs";
const THEMES = [
  ["system", "As the system"],
  ["light", "Light"],
  ["dark", "Dark"],
] as const;

/** The menu itself, open as soon as it is there. */
export function OpenAccountMenu({ email }: { email: string }) {
  const { theme, setTheme } = useTheme();
  const { team, all } = useTeam();
  const leave = async () => {
    await signOut().catch(() => {});
    window.location.assign("/login");
  };
  return (
    // Not modal: the page behind stays what it is for everybody.
    <DropdownMenu.Root modal={false} defaultOpen>
      <DropdownMenu.Trigger className={accountButtonStyle}>
        <AccountButtonFace email={email} />
      </DropdownMenu.Trigger>
      <DropdownMenu.Content
        align="end"
        sideOffset={6}
        collisionPadding={8}
        className="z-20 w-60 rounded-xl border border-line bg-page p-1.5 text-sm shadow-lg"
      >
        {all.length > 1 ? (
          <>
            <DropdownMenu.Label className={labelStyle}>Team</DropdownMenu.Label>
            {all.map(({ teamId, teamName }) => (
              <DropdownMenu.Item key={teamId} asChild className={itemStyle}>
                <a href={`/console?team=${teamId}`}>
                  <Check
                    className={`size-4 ${teamId === team?.teamId ? "" : "invisible"}`}
                    aria-hidden="true"
                  />
                  <span className="truncate">{teamName}</span>
                </a>
              </DropdownMenu.Item>
            ))}
            <DropdownMenu.Separator className="my-1.5 h-px bg-line" />
          </>
        ) : null}
        <DropdownMenu.Label className={labelStyle}>Appearance</DropdownMenu.Label>
        <DropdownMenu.RadioGroup value={theme ?? "system"} onValueChange={setTheme}>
          {THEMES.map(([value, label]) => (
            <DropdownMenu.RadioItem key={value} value={value} className={`${itemStyle} pl-8`}>
              <DropdownMenu.ItemIndicator className="-ml-6">
                <Check className="size-4" aria-hidden="true" />
              </DropdownMenu.ItemIndicator>
              {label}
            </DropdownMenu.RadioItem>
          ))}
        </DropdownMenu.RadioGroup>
        <DropdownMenu.Separator className="my-1.5 h-px bg-line" />
        <DropdownMenu.Item onSelect={leave} className={`${itemStyle} pl-8`}>
          Sign out
        </DropdownMenu.Item>
      </DropdownMenu.Content>
    </DropdownMenu.Root>
  );
}
