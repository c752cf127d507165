"use client";

import { X } from "lucide-react";
import { Dialog } from "radix-ui";
import { AccountMenu, Navigation, TeamSwitcher } from "./sidebar";

/** The menu: a sheet from the right above the page. */
export const OpenPhoneMenu = ({ email, onClose }: { email: string; onClose: () => void }) => (
  <Dialog.Root
    defaultOpen
    onOpenChange={(isOpen) => {
      if (!isOpen) onClose();
    }}
  >
    <Dialog.Portal>
      <Dialog.Overlay className="fixed inset-0 z-40 bg-black/40 motion-safe:animate-[fade-in_120ms_ease-out]" />
      <Dialog.Content
        aria-describedby={undefined}
        className="fixed inset-y-0 right-0 z-50 flex w-[min(20rem,85vw)] flex-col gap-3 overflow-y-auto border-line border-l bg-page px-3 pt-1.5 pb-4 outline-none motion-safe:animate-[slide-in_160ms_ease-out]"
      >
        <div className="flex items-center justify-between pl-2">
          <Dialog.Title className="font-semibold text-base">Menu</Dialog.Title>
          <Dialog.Close
            aria-label="Close"
            className="grid size-11 place-items-center rounded-lg text-soft hover:text-ink"
          >
            <X className="size-5" />
          </Dialog.Close>
        </div>
        <TeamSwitcher />
        <Navigation onLeave={onClose} />
        <div className="mt-auto border-line border-t pt-3">
          <AccountMenu email={email} />
        </div>
      </Dialog.Content>
    </Dialog.Portal>
  </Dialog.Root>
);
