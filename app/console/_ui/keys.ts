/** Where a person types, or chooses from a menu, letters are letters. */
const TYPES_IN = "input, textarea, select, [contenteditable]:not([contenteditable=false]), [role=menu]";
const ABOVE = "[role=dialog], [role=alertdialog]";

/** Whether a press is one of the page's own keys: nobody types, nothing lies above the page, no Ctrl, Alt or Meta. */
export function isPageKey(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.isComposing)
    return false;
  if (event.target instanceof Element && event.target.closest(TYPES_IN)) return false;
  return document.querySelector(ABOVE) === null;
}

/** Puts the cursor into the page's search field, the first that is marked `data-search`; answers whether there is one. */
export function focusSearch(): boolean {
  const field = document.querySelector("[data-search]");
  if (!(field instanceof HTMLInputElement)) return false;
  field.focus();
  field.select();
  return true;
}

/** Moves through what is marked `data-row`: the links of lists, which Enter then opens as it does any link. */
export function moveInList(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>("main [data-row]")];
  const here = document.activeElement?.closest("tr, li")?.querySelector<HTMLElement>("[data-row]");
  const at = here ? rows.indexOf(here) : -1;
  const next = at === -1 ? (step === 1 ? 0 : rows.length - 1) : at + step;
  rows[Math.max(0, Math.min(rows.length - 1, next))]?.focus();
}

/** Opens the row that has the focus, as a click on it does. */
export function openRow(): void {
  const row = document.activeElement?.closest("[data-row]");
  if (row instanceof HTMLElement) row.click();
}
