import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import type { Effort } from "./recorded";

type Role = Parameters<Page["getByRole"]>[0];

/** Describes an element. It is data and no locator, so it cannot be clicked except through a counted user. */
export type Target =
  | { by: "role"; role: Role; name?: string | RegExp; in?: Target }
  | { by: "text"; text: string | RegExp; in?: Target }
  | { by: "label"; label: string; in?: Target };

const inside = (within: Target | undefined) => (within ? { in: within } : {});

/** The elements with a role, of any name if `name` is missing, inside another element if one is given. */
export const role = (role: Role, name?: string | RegExp, within?: Target): Target => ({
  by: "role",
  role,
  ...(name === undefined ? {} : { name }),
  ...inside(within),
});
export const text = (text: string | RegExp, within?: Target): Target => ({
  by: "text",
  text,
  ...inside(within),
});
export const label = (label: string, within?: Target): Target => ({ by: "label", label, ...inside(within) });

/** A CSV file that the user has. */
export type OwnFile = { name: string; mimeType: string; buffer: Buffer };

const waitOptions = { timeout: 60_000 };
/** On a native select field: one click opens the options, one selects. */
const clicksPerChoice = 2;

/**
 * The only access of a task to its page. Each click and key press is counted, and described for the table.
 */
export type CountedUser = Awaited<ReturnType<typeof startCounting>>;

/**
 * Counts what a user does on a page that is not loaded yet. Reading, waiting and scrolling are not counted.
 */
export async function startCounting(page: Page) {
  const effort: Effort = { clicks: 0, keys: 0, typed: 0 };
  /**
   * Clicks and key presses that the page must have received: choices in a native list and in a file dialog
   * are none.
   */
  let sent = 0;
  let received = 0;
  await page.exposeFunction("recordInput", () => {
    received += 1;
  });
  await page.addInitScript(reportInput);
  const steps: string[] = [];
  return {
    /** One click on the first element that matches. */
    async click(target: Target): Promise<void> {
      steps.push(`click ${nameOf(target)}`);
      effort.clicks += 1;
      sent += 1;
      await locate(page, target).first().click(waitOptions);
    },
    /** One key, or one chord such as `ControlOrMeta+k`. */
    async press(key: string): Promise<void> {
      steps.push(`press ${key.replace("ControlOrMeta", "Ctrl")}`);
      effort.keys += 1;
      sent += 1;
      await page.keyboard.press(key);
    },
    /** Types what only the user knows, such as an address, into the field that has the focus. */
    async type(typed: string, what: string): Promise<void> {
      steps.push(`type ${what}`);
      effort.typed += typed.length;
      await expect.poll(() => page.evaluate(isTextFieldFocused), { message: `focus for ${what}` }).toBe(true);
      await page.keyboard.insertText(typed);
    },
    /** Selects an option of a native select field. */
    async choose(target: Target, option: string): Promise<void> {
      steps.push(`select “${option}” in ${nameOf(target)}`);
      effort.clicks += clicksPerChoice;
      await locate(page, target).selectOption({ label: option }, waitOptions);
    },
    /** One click on the element that opens the file dialog of the browser, and one for the choice in it. */
    async chooseFile(target: Target, file: OwnFile): Promise<void> {
      steps.push(`click ${nameOf(target)}`, "choose the file");
      effort.clicks += 2;
      sent += 1;
      const [chooser] = await Promise.all([
        page.waitForEvent("filechooser", waitOptions),
        locate(page, target).first().click(waitOptions),
      ]);
      await chooser.setFiles(file);
    },
    /** Waits until an element is visible. */
    sees: (target: Target): Promise<void> => locate(page, target).first().waitFor(waitOptions),
    /** Waits for an element, and returns its text. */
    async reads(target: Target): Promise<string> {
      return (await locate(page, target).first().textContent(waitOptions)) ?? "";
    },
    /** The number of elements that match now. */
    counts: (target: Target): Promise<number> => locate(page, target).count(),
    clipboard: (): Promise<string> => page.evaluate(() => navigator.clipboard.readText()),
    /** What was counted. Expects that the page received no other click or key press. */
    async effort(): Promise<Effort> {
      await expect.poll(() => received, { message: "clicks and keys that the page received" }).toBe(sent);
      return { ...effort };
    },
    steps: (): string => steps.join(", "),
  };
}

function locate(page: Page, target: Target): Locator {
  const scope: Page | Locator = target.in ? locate(page, target.in) : page;
  switch (target.by) {
    case "role":
      return scope.getByRole(
        target.role,
        target.name === undefined ? {} : { name: target.name, exact: true },
      );
    case "text":
      return scope.getByText(target.text, { exact: true });
    case "label":
      return scope.getByLabel(target.label, { exact: true });
  }
}

function nameOf(target: Target): string {
  const name = target.by === "role" ? target.name : target.by === "text" ? target.text : target.label;
  return `“${name instanceof RegExp ? name.source.replaceAll(/[\^$\\]/g, "") : (name ?? "")}”`;
}

/**
 * Runs in the page. Events that a script of the page made, and modifier keys, which belong to a chord, do not
 * count.
 */
function reportInput(): void {
  const report = (event: Event) => {
    const isModifier =
      event instanceof KeyboardEvent && ["Control", "Shift", "Alt", "Meta"].includes(event.key);
    if (event.isTrusted && !isModifier)
      (window as unknown as { recordInput: () => Promise<void> }).recordInput().catch(() => {});
  };
  window.addEventListener("pointerdown", report, { capture: true });
  window.addEventListener("keydown", report, { capture: true });
}

function isTextFieldFocused(): boolean {
  const element = document.activeElement;
  return element instanceof HTMLElement && element.matches("input, textarea, [contenteditable=true]");
}
