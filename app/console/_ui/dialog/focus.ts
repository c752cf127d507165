import { useRef } from "react";

const FIELDS = ["input:not([type=hidden])", "select", "textarea"]
  .map((field) => `${field}:not(:disabled, [readonly], [tabindex="-1"])`)
  .join(", ");

/**
 * The focus of every dialog. It opens in the first field; a confirmation without fields opens on its dismiss
 * button. The same applies to fields that appear later, as long as the user has not moved the focus. When the
 * dialog closes, the focus returns to the element that opened it: for an item of a menu, the button of the
 * menu.
 */
export function useDialogFocus() {
  const opener = useRef<HTMLElement | null>(null);
  const stop = useRef(() => {});
  return {
    onOpenAutoFocus: (event: Event) => {
      event.preventDefault();
      const dialog = event.currentTarget;
      if (!(dialog instanceof HTMLElement)) return;
      opener.current = openerOf(document.activeElement);
      stop.current();
      stop.current = followFocus(dialog, (element) => {
        opener.current ??= element;
      });
    },
    onCloseAutoFocus: (event: Event) => {
      event.preventDefault();
      stop.current();
      if (opener.current?.isConnected) opener.current.focus();
    },
  };
}

/** Null if nothing has the focus: a menu that closes has not yet returned it to its button. */
function openerOf(focused: Element | null): HTMLElement | null {
  const menu = focused?.closest("[role=menu]");
  const element = menu ? document.getElementById(menu.getAttribute("aria-labelledby") ?? "") : focused;
  return element instanceof HTMLElement && element !== document.body ? element : null;
}

/**
 * Focuses the first field now, or as soon as there is one. `onOutside` gets elements outside that were
 * focused meanwhile.
 */
function followFocus(dialog: HTMLElement, onOutside: (element: HTMLElement) => void): () => void {
  const enter = () =>
    (firstField(dialog) ?? dialog.querySelector<HTMLElement>("[data-dismiss]") ?? dialog).focus();
  const onChange = () => {
    const focused = document.activeElement;
    if (focused === null || focused === document.body || focused === dialog) enter();
  };
  const onFocus = ({ target }: FocusEvent) => {
    if (target instanceof HTMLElement && !dialog.contains(target)) onOutside(target);
  };
  enter();
  const changes = new MutationObserver(onChange);
  changes.observe(dialog, { childList: true, subtree: true });
  const listening = new AbortController();
  const { signal } = listening;
  document.addEventListener("focusin", onFocus, { capture: true, signal });
  // From then on the user decides: a click on a text, to select it, focuses the dialog itself.
  dialog.addEventListener("pointerdown", () => changes.disconnect(), { signal });
  return () => {
    changes.disconnect();
    listening.abort();
  };
}

/** The first field that is displayed; of a group of radio buttons, the selected one. */
function firstField(dialog: HTMLElement): HTMLElement | undefined {
  const fields = [...dialog.querySelectorAll<HTMLElement>(FIELDS)].filter((field) => field.checkVisibility());
  const [first] = fields;
  if (!(first instanceof HTMLInputElement) || first.type !== "radio") return first;
  const isSelected = (field: HTMLElement) =>
    field instanceof HTMLInputElement && field.name === first.name && field.checked;
  return fields.find(isSelected) ?? first;
}
