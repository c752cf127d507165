"use client";

import { Command } from "cmdk";
import { Search } from "lucide-react";
import { useRouter } from "next/navigation";
import { Dialog } from "radix-ui";
import { useRef, useState } from "react";
import { Key } from "../list/pager";
import { useConsoleHref } from "../team";
import { PaletteCommands } from "./palette-commands";
import { type Go, PaletteResults } from "./palette-results";

type Props = { onClose: () => void; onKeys: () => void };

/** The command palette: pages, actions, and the emails, templates and domains of the team. */
export function Palette({ onClose, onKeys }: Props) {
  const [text, setText] = useState("");
  const router = useRouter();
  const hrefOf = useConsoleHref();
  const before = useRef<Element | null>(null);
  /** Closes the palette first, which restores the focus before the action moves it. */
  const run = (run: () => void) => {
    onClose();
    run();
  };
  const go: Go = (path, parameters) => run(() => router.push(hrefOf(path, parameters)));
  return (
    <Dialog.Root open onOpenChange={onClose}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/40 motion-safe:animate-[fade-in_100ms_ease-out]" />
        <Dialog.Content
          aria-describedby={undefined}
          onOpenAutoFocus={() => {
            before.current = document.activeElement;
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            if (before.current instanceof HTMLElement && before.current.isConnected) before.current.focus();
          }}
          className="fixed inset-x-3 top-3 z-50 overflow-hidden rounded-2xl border border-line bg-page shadow-xl outline-none md:inset-x-auto md:top-[14dvh] md:left-1/2 md:w-full md:max-w-xl md:-translate-x-1/2 motion-safe:animate-[rise-in_120ms_ease-out]"
        >
          <Dialog.Title className="sr-only">Search and commands</Dialog.Title>
          <Command label="Search and commands" loop>
            <div className="flex items-center gap-3 border-line border-b px-4">
              <Search className="size-4.5 shrink-0 text-soft" aria-hidden="true" />
              <Command.Input
                value={text}
                onValueChange={setText}
                maxLength={320}
                placeholder="Page, command, recipient, subject or id…"
                className="h-13 w-full min-w-0 bg-transparent text-base outline-none placeholder:text-soft"
              />
            </div>
            <Command.List className="max-h-[min(24rem,60dvh)] overflow-y-auto p-1.5" label="Results">
              <Command.Empty className="px-3 py-8 text-center text-soft">No results.</Command.Empty>
              <PaletteResults text={text.trim()} go={go} />
              <PaletteCommands go={go} run={run} onKeys={onKeys} />
            </Command.List>
            <p
              className="flex gap-4 border-line border-t px-4 py-2.5 text-soft text-xs max-md:hidden"
              aria-hidden="true"
            >
              <span>
                <Key>↑</Key>
                <Key>↓</Key> select
              </span>
              <span>
                <Key>Enter</Key> open
              </span>
              <span>
                <Key>Esc</Key> close
              </span>
            </p>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
