import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { projectRoot } from "../support/processes/processes";
import { openSignedIn } from "./backstamp";
import { expectNoErrors, takePictures } from "./browser";
import { fillForDialogs } from "./dialog-data";
import { DIALOGS, type OpenedDialog } from "./dialog-list";
import { ELSEWHERE } from "./dialogs-elsewhere";

/*
 * Every dialog is accessible in both themes and fits each width. One with a form opens in its first field;
 * each shows its buttons on a low screen and returns the focus to the button that opened it. A confirmation
 * without fields opens on its dismiss button.
 */

/** An element in the source that is a dialog. */
const OPENS_DIALOG = /<(?:(?:Form)?Dialog(?:\.Content)?|Confirm|ProofDialog)\s/g;

const pollOptions = { timeout: 30_000 };

const { backstamp, profile, page } = await openSignedIn(
  { SMTP_URL: "capture:" },
  { viewport: { width: 1280, height: 480 } },
);
const data = await fillForDialogs(backstamp);

const dialog = () => page.locator("[role=dialog], [role=alertdialog]");

const find = (click: OpenedDialog["clicks"][number]) =>
  typeof click === "string" || click instanceof RegExp
    ? page.getByRole("button", { name: click, exact: true })
    : "item" in click
      ? page.getByRole("menuitem", { name: click.item })
      : "row" in click
        ? page.locator("tbody [data-row]", { hasText: click.row })
        : page.getByRole("checkbox", { name: click.check });

/** Opens the dialog. Returns the element that gets the focus after it. */
async function open({ path: pathOf, clicks }: OpenedDialog) {
  const address = backstamp.url + pathOf(data);
  // A page whose last dialog was closed is as it was loaded.
  if (page.url() !== address) {
    await page.goto(address);
    await page.waitForLoadState("networkidle");
  }
  for (const click of clicks) await find(click).first().click(pollOptions);
  await dialog().waitFor(pollOptions);
  // A menu closes before its dialog opens, so its button gets the focus.
  const opener = clicks.findLast((click) => typeof click !== "object" || !("item" in click));
  return find(opener ?? "").first();
}

/**
 * Runs in the browser: what has the focus in the dialog; "first field" for its first one, or a selected radio
 * button.
 */
function readFocus(root: Element): string {
  const at = document.activeElement;
  const fields = [...root.querySelectorAll("input:not([type=hidden]), select, textarea")].filter(
    (field) => !(field as HTMLInputElement).disabled,
  );
  const [first] = fields;
  const isInput = first instanceof HTMLInputElement && at instanceof HTMLInputElement;
  const isSelected = isInput && first.type === "radio" && at.name === first.name && at.checked;
  return first && (at === first || isSelected) ? "first field" : (at?.outerHTML.slice(0, 120) ?? "nothing");
}

async function expectReturned(opener: Awaited<ReturnType<typeof open>>): Promise<void> {
  await page.keyboard.press("Escape");
  await expect.poll(() => dialog().count(), pollOptions).toBe(0);
  await expect.poll(() => opener.evaluate((node) => node === document.activeElement), pollOptions).toBe(true);
  expectNoErrors(profile);
}

for (const [name, opened] of Object.entries(DIALOGS))
  test(`the dialog "${name}" is accessible, has the focus and shows its buttons`, async () => {
    const opener = await open(opened);
    if (opened.isForm) await expect.poll(() => dialog().evaluate(readFocus), pollOptions).toBe("first field");
    const buttons = dialog().locator("[data-actions] button");
    const boxes = await buttons.evaluateAll((all) => all.map((each) => each.getBoundingClientRect().bottom));
    if (opened.isForm) expect(boxes.length).toBeGreaterThan(0);
    for (const bottom of boxes) expect(bottom).toBeLessThanOrEqual(480);
    await takePictures(page, `dialog-${name.replaceAll(/\W+/g, "-")}`);
    await expectReturned(opener);
  });

test("no dialog is missing from the lists", () => {
  const folder = path.join(projectRoot, "app/console");
  const found = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".tsx") && !file.startsWith("_ui/dialog"))
    .flatMap((file) => {
      const dialogs = readFileSync(path.join(folder, file), "utf8").match(OPENS_DIALOG) ?? [];
      return dialogs.map(() => file.slice(0, -".tsx".length));
    });
  const elsewhere = Object.entries(ELSEWHERE);
  const listed = [
    ...Object.values(DIALOGS).map(({ file }) => file),
    ...elsewhere.flatMap(([file, pictures]) => Object.keys(pictures).map(() => file)),
  ];
  expect(listed.sort()).toEqual(found.sort());
  for (const [picture, suite] of elsewhere.flatMap(([, pictures]) => Object.entries(pictures)))
    expect(readFileSync(path.join(projectRoot, `tests/e2e/${suite}.test.ts`), "utf8")).toMatch(
      new RegExp(`takePictures\\(\\w+, "${picture}"\\)`),
    );
});

test("a confirmation has the focus on its dismiss button", async () => {
  const opener = await open(DIALOGS["delete a webhook"] as OpenedDialog);
  const focused = () => page.evaluate(() => document.activeElement?.textContent);
  await expect.poll(focused, pollOptions).toBe("Cancel");
  await expectReturned(opener);
});
