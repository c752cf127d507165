"use client";

import { useRouter } from "next/navigation";
import { createContext, type ReactNode, use, useEffect, useRef, useState } from "react";
import { loadPage } from "../connection/connection";
import { lazyDialog } from "../page/lazy-part";
import { useLeave } from "../shell/leave-guard";
import { DOCUMENTS } from "../shell/pages";
import { usePages } from "../shell/use-pages";
import { useConsoleHref } from "../team";

const Palette = lazyDialog(async () => (await import("./palette")).Palette);
const KeysHelp = lazyDialog(async () => (await import("./keys-help")).KeysHelp);

/** How long after `g` a page key is accepted. */
const jumpMs = 1_500;

type Overlay = "palette" | "keys";
type Commands = {
  open: (what: Overlay) => void;
  /** Loads the code of the palette before it opens. */
  preload: () => void;
};

const CommandsContext = createContext<Commands>({ open: () => {}, preload: () => {} });

/** Opens the palette and the list of keyboard shortcuts. */
export const useCommands = (): Commands => use(CommandsContext);

/**
 * The keyboard shortcuts of every console page: Ctrl or Cmd with K works anywhere, the others only outside
 * text fields. List rows are marked `data-row`, search fields `data-search` and the link to the list
 * `data-back`.
 */
export function Keyboard({ children }: { children: ReactNode }) {
  const [overlay, setOverlay] = useState<Overlay | null>(null);
  const jumpsUntil = useRef(0);
  const router = useRouter();
  const hrefOf = useConsoleHref();
  const leave = useLeave();
  const pages = usePages();

  useEffect(() => {
    const jump = (key: string): boolean => {
      const isJump = performance.now() < jumpsUntil.current;
      jumpsUntil.current = 0;
      if (!isJump) return false;
      const document = DOCUMENTS.find((each) => each.key === key);
      if (document) leave(() => void loadPage(document.path));
      const page = pages.find((each) => each.key === key);
      if (page) leave(() => router.push(hrefOf(page.path)));
      return true;
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey) {
        event.preventDefault();
        if (document.querySelector("[role=dialog], [role=alertdialog]") === null) setOverlay("palette");
        return;
      }
      if (!isPageKey(event)) return;
      if (jump(event.key)) return;
      if (event.key === "g") jumpsUntil.current = performance.now() + jumpMs;
      if (event.key === "?") setOverlay("keys");
      if (event.key === "/") {
        event.preventDefault();
        if (!focusSearch()) setOverlay("palette");
      }
      if (event.key === "j") moveInList(1);
      if (event.key === "k") moveInList(-1);
      if (event.key === "o") openRow();
      if (event.key === "Escape") document.querySelector<HTMLElement>("main [data-back]")?.click();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [router, hrefOf, leave, pages]);

  const close = () => setOverlay(null);
  return (
    <CommandsContext value={{ open: setOverlay, preload: Palette.preload }}>
      {children}
      {overlay === "palette" ? <Palette onClose={close} onKeys={() => setOverlay("keys")} /> : null}
      {overlay === "keys" ? <KeysHelp onClose={close} /> : null}
    </CommandsContext>
  );
}

/** Elements in which keys are input and not shortcuts. */
const INPUTS = "input, textarea, select, [contenteditable]:not([contenteditable=false]), [role=menu]";
const OVERLAYS = "[role=dialog], [role=alertdialog]";

/**
 * Whether a key press is a page shortcut: not in a text field or menu, no open dialog, no Ctrl, Alt or Meta.
 */
function isPageKey(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.isComposing)
    return false;
  if (event.target instanceof Element && event.target.closest(INPUTS)) return false;
  return document.querySelector(OVERLAYS) === null;
}

/** Focuses the first field marked `data-search`. Returns whether the page has one. */
function focusSearch(): boolean {
  const field = document.querySelector("[data-search]");
  if (!(field instanceof HTMLInputElement)) return false;
  field.focus();
  field.select();
  return true;
}

/**
 * Moves the focus between elements marked `data-row`. They are links or buttons, so Enter opens the focused
 * one.
 */
function moveInList(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>("main [data-row]")];
  const here = document.activeElement?.closest("tr, li")?.querySelector<HTMLElement>("[data-row]");
  const at = here ? rows.indexOf(here) : -1;
  const next = at === -1 ? (step === 1 ? 0 : rows.length - 1) : at + step;
  rows[Math.max(0, Math.min(rows.length - 1, next))]?.focus();
}

/** Clicks the row that has the focus. */
function openRow(): void {
  const row = document.activeElement?.closest("[data-row]");
  if (row instanceof HTMLElement) row.click();
}
