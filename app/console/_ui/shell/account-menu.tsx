"use client";

import { Suspense, useState } from "react";
import { lazyPart } from "../page/lazy-part";
import { AccountButtonFace, accountButtonStyle } from "./account-button";

const load = () => import("./account-menu-open");
// An error here is ignored: the load is repeated when the menu opens, and the error is shown then.
const preload = () => void load().catch(() => {});
const OpenAccountMenu = lazyPart(async () => (await load()).OpenAccountMenu);

/**
 * Shows the signed-in user and opens the account menu. The code of the menu is an eighth of the script of a page, so it
 * loads on hover, focus or click.
 */
export function AccountMenu({ email }: { email: string }) {
  const [isRequested, setRequested] = useState(false);
  const button = (
    <button
      type="button"
      aria-haspopup="menu"
      aria-expanded={false}
      onPointerEnter={preload}
      onFocus={preload}
      onClick={() => setRequested(true)}
      className={accountButtonStyle}
    >
      <AccountButtonFace email={email} />
    </button>
  );
  if (!isRequested) return button;
  return (
    <Suspense fallback={button}>
      <OpenAccountMenu email={email} />
    </Suspense>
  );
}
