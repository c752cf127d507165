/**
 * Puts text on the clipboard; answers whether it worked. Over plain HTTP from another machine browsers have no
 * `navigator.clipboard`, so there the old way by a selection is taken.
 */
export async function copyText(text: string): Promise<boolean> {
  if (window.isSecureContext)
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => copyBySelection(text),
    );
  return copyBySelection(text);
}

function copyBySelection(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.readOnly = true;
  area.style.position = "fixed";
  area.style.opacity = "0";
  const before = document.activeElement;
  // Inside a dialog the focus may not leave it.
  (before?.closest("[role=dialog]") ?? document.body).append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return isCopied;
}
