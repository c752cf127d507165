/** Elements in which keys are input and not shortcuts. */
const INPUTS = "input, textarea, select, [contenteditable]:not([contenteditable=false]), [role=menu]";
const OVERLAYS = "[role=dialog], [role=alertdialog]";

/** Whether a key press is a page shortcut: not in a text field or menu, no open dialog, no Ctrl, Alt or Meta. */
export function isPageKey(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.isComposing)
    return false;
  if (event.target instanceof Element && event.target.closest(INPUTS)) return false;
  return document.querySelector(OVERLAYS) === null;
}

/** Focuses the first field marked `data-search`. Returns whether the page has one. */
export function focusSearch(): boolean {
  const field = document.querySelector("[data-search]");
  if (!(field instanceof HTMLInputElement)) return false;
  field.focus();
  field.select();
  return true;
}

/** Moves the focus between elements marked `data-row`. They are links or buttons, so Enter opens the focused one. */
export function moveInList(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>("main [data-row]")];
  const here = document.activeElement?.closest("tr, li")?.querySelector<HTMLElement>("[data-row]");
  const at = here ? rows.indexOf(here) : -1;
  const next = at === -1 ? (step === 1 ? 0 : rows.length - 1) : at + step;
  rows[Math.max(0, Math.min(rows.length - 1, next))]?.focus();
}

/** Clicks the row that has the focus. */
export function openRow(): void {
  const row = document.activeElement?.closest("[data-row]");
  if (row instanceof HTMLElement) row.click();
}
