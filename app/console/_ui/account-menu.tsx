"use client";

import { Suspense, useState } from "react";
import { AccountButtonFace, accountButtonStyle } from "./account-button";
import { lazyPart } from "./lazy-part";

const load = () => import("./account-menu-open");
// A load that fails now fails again, and is shown, when the menu is opened.
const preload = () => void load().catch(() => {});
const OpenAccountMenu = lazyPart(async () => (await load()).OpenAccountMenu);

/**
 * Who is signed in, in which team, and how the console looks. The menu's code, an eighth of a page's, comes when somebody
 * is about to open it.
 */
export function AccountMenu({ email }: { email: string }) {
  const [isWanted, setWanted] = useState(false);
  const button = (
    <button
      type="button"
      aria-haspopup="menu"
      aria-expanded={false}
      onPointerEnter={preload}
      onFocus={preload}
      onClick={() => setWanted(true)}
      className={accountButtonStyle}
    >
      <AccountButtonFace email={email} />
    </button>
  );
  if (!isWanted) return button;
  return (
    <Suspense fallback={button}>
      <OpenAccountMenu email={email} />
    </Suspense>
  );
}
