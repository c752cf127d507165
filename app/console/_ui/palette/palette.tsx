"use client";

import { Command } from "cmdk";
import { Search } from "lucide-react";
import { useRouter } from "next/navigation";
import { Dialog } from "radix-ui";
import { type KeyboardEvent, type RefObject, useEffect, useRef, useState } from "react";
import { useDialogFocus } from "../dialog/focus";
import { Key } from "../list/pager";
import { useLeave } from "../shell/leave-guard";
import { useConsoleHref } from "../team";
import { type Go, type PaletteGroup, PaletteLines } from "./palette-item";
import { usePaletteCommands } from "./use-palette-commands";
import { useResults } from "./use-results";

type Props = { onClose: () => void; onKeys: () => void };

/**
 * The command palette: pages, actions, and what the text finds in the team. The first line is selected until
 * the user selects another one. Enter opens the selected line; while the search is in progress and no command
 * has that name, it waits for the result.
 */
export function Palette({ onClose, onKeys }: Props) {
  const [text, setText] = useState("");
  const router = useRouter();
  const hrefOf = useConsoleHref();
  const leave = useLeave();
  const focus = useDialogFocus();
  /** Closes the palette first, which restores the focus before the action moves it. */
  const run = (run: () => void) => {
    onClose();
    run();
  };
  const go: Go = (path, parameters) => run(() => leave(() => router.push(hrefOf(path, parameters))));
  const wanted = text.trim();
  const commands = usePaletteCommands({ text: wanted, go, run, onKeys });
  const results = useResults(wanted, go);
  const groups = [...commands, ...results.groups];
  const isAwaited = results.isPending && commands.every(({ items }) => items.length === 0);
  const { change, isEmpty, ...selection } = useSelection(groups, isAwaited);
  const root = useRef<HTMLDivElement>(null);
  return (
    <Dialog.Root open onOpenChange={onClose}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/40 motion-safe:animate-[fade-in_100ms_ease-out]" />
        <Dialog.Content
          aria-describedby={undefined}
          {...focus}
          className="fixed inset-x-3 top-3 z-50 overflow-hidden rounded-2xl border border-line bg-page shadow-xl outline-none md:inset-x-auto md:top-[14dvh] md:left-1/2 md:w-full md:max-w-xl md:-translate-x-1/2 motion-safe:animate-[rise-in_120ms_ease-out]"
        >
          <Dialog.Title className="sr-only">Search and commands</Dialog.Title>
          <Command ref={root} label="Search and commands" loop shouldFilter={false} {...selection}>
            <div className="flex items-center gap-3 border-line border-b px-4">
              <Search className="size-4.5 shrink-0 text-soft" />
              <Command.Input
                value={text}
                onValueChange={(next) => {
                  setText(next);
                  change();
                }}
                maxLength={320}
                placeholder="Page, command, recipient, subject, name or id…"
                className="h-13 w-full min-w-0 bg-transparent text-base outline-none placeholder:text-soft"
              />
            </div>
            <Command.List className="max-h-[min(24rem,60dvh)] overflow-y-auto p-1.5" label="Results">
              {results.hasFailed ? (
                <p role="alert" className="px-3 py-2.5 text-bad">
                  The search failed. Change the text to search again.
                </p>
              ) : null}
              {groups.map((group) => (
                <PaletteLines key={group.heading} {...group} />
              ))}
              {isEmpty ? <p className="px-3 py-8 text-center text-soft">No results.</p> : null}
            </Command.List>
            <AnnouncedLine root={root} value={selection.value} />
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

/**
 * Tells screen readers which line is selected. The library does so only for lines that it selects itself, and
 * not again when other lines take their place (https://github.com/dip/cmdk/issues/413). A component, because
 * the dialog mounts its content after the palette.
 */
function AnnouncedLine({ root, value }: { root: RefObject<HTMLDivElement | null>; value: string }) {
  useEffect(() => {
    const lines = [...(root.current?.querySelectorAll("[role=option]") ?? [])];
    const id = lines.find((line) => line.getAttribute("data-value") === value.trim())?.id;
    for (const element of root.current?.querySelectorAll("[role=combobox], [role=listbox]") ?? [])
      if (id) element.setAttribute("aria-activedescendant", id);
      else element.removeAttribute("aria-activedescendant");
  });
  return null;
}

/** Keys with which the user selects a line. */
const MOVES = new Set(["ArrowDown", "ArrowUp", "Home", "End"]);

/** Which line is selected, as props of the list. `change` resets it for another text. */
function useSelection(groups: readonly PaletteGroup[], isAwaited: boolean) {
  const [chosen, setChosen] = useState<string | null>(null);
  const [isEntered, setEntered] = useState(false);
  /** The list itself also selects lines, when lines come and go. Only what the user selects counts. */
  const isByUser = useRef(false);
  const items = groups.flatMap((group) => group.items);
  const first = items[0];
  const isThere = items.some(({ value }) => value === chosen);

  useEffect(() => {
    if (!isEntered || isAwaited) return;
    setEntered(false);
    first?.onSelect();
  }, [isEntered, isAwaited, first]);

  return {
    isEmpty: items.length === 0,
    change: () => {
      isByUser.current = false;
      setChosen(null);
      setEntered(false);
    },
    value: (isThere ? chosen : first?.value) ?? "",
    onValueChange: (value: string) => {
      if (isByUser.current) setChosen(value);
    },
    onPointerMoveCapture: () => {
      isByUser.current = true;
    },
    onKeyDown: (event: KeyboardEvent) => {
      if (MOVES.has(event.key) || event.ctrlKey) isByUser.current = true;
      if (event.key !== "Enter" || event.nativeEvent.isComposing || chosen !== null || !isAwaited) return;
      event.preventDefault();
      setEntered(true);
    },
  };
}
