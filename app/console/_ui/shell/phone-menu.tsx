"use client";

import { Menu } from "lucide-react";
import { useState } from "react";
import { lazyDialog } from "../page/lazy-part";

const OpenPhoneMenu = lazyDialog(async () => (await import("./phone-menu-open")).OpenPhoneMenu);

/** The menu button on a phone. It opens the navigation, the team switcher and the account menu. */
export function PhoneMenu({ email }: { email: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        aria-label="Menu"
        onPointerDown={OpenPhoneMenu.preload}
        onFocus={OpenPhoneMenu.preload}
        onClick={() => setOpen(true)}
        className="grid size-11 place-items-center rounded-lg text-soft hover:text-ink"
      >
        <Menu className="size-5" />
      </button>
      {isOpen ? <OpenPhoneMenu email={email} onClose={() => setOpen(false)} /> : null}
    </>
  );
}
