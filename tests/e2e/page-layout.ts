/** Runs in the browser: the menus of rows, and what is wrong with the rows. */
export function readRows(minPx: number): { rows: number; menus: number; faults: string[] } {
  const faults: string[] = [];
  const rows = [...document.querySelectorAll("main tbody tr, main ul[aria-label='Emails'] > li")];
  let menus = 0;
  for (const row of rows) {
    const name = row.querySelector(row.tagName === "TR" ? "td" : ".font-medium");
    const text = row.textContent?.slice(0, 60);
    const { width = 0 } = name?.getBoundingClientRect() ?? {};
    const isCut = [name, ...(name?.querySelectorAll("*") ?? [])].some(
      (each) =>
        each && each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).overflowX === "hidden",
    );
    if (isCut && width < minPx) faults.push(`${text}: the name has ${width} px`);
    for (const menu of row.querySelectorAll("button[aria-haspopup='menu']")) {
      menu.scrollIntoView({ block: "center" });
      const box = menu.getBoundingClientRect();
      const found = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
      if (row.tagName === "TR" && name && box.top > name.getBoundingClientRect().bottom)
        faults.push(`${text}: the menu is below the name`);
      if (found && menu.contains(found) && box.right <= innerWidth) menus++;
      else faults.push(`${text}: the menu is covered or outside`);
    }
  }
  if (document.documentElement.scrollWidth > innerWidth) faults.push("the page scrolls sideways");
  return { rows: rows.length, menus, faults };
}

/** Runs in the browser: scrollbars where nothing scrolls, or by a pixel or two only. */
export function readScrollbars(): string[] {
  const faults: string[] = [];
  for (const element of document.querySelectorAll<HTMLElement>("body, body *")) {
    const { overflowX, overflowY } = getComputedStyle(element);
    const { scrollWidth, clientWidth, scrollHeight, clientHeight } = element;
    const name = `${element.tagName} ${element.className}`.slice(0, 80);
    if (overflowX === "scroll" || overflowY === "scroll") faults.push(`always: ${name}`);
    if (clientWidth === 0 || clientHeight === 0) continue;
    const [sideways, down] = [scrollWidth - clientWidth, scrollHeight - clientHeight];
    if (overflowY === "auto" && down > 0 && down <= 3) faults.push(`${down} px down: ${name}`);
    if (overflowX === "auto" && sideways > 0 && sideways <= 3)
      faults.push(`${sideways} px sideways: ${name}`);
  }
  return faults;
}

/** Runs in the browser: selects that do not have the style of the text fields. */
export function readSelects(isPhone: boolean): string[] {
  const faults: string[] = [];
  for (const select of document.querySelectorAll("main select")) {
    const style = getComputedStyle(select);
    const { height } = select.getBoundingClientRect();
    if (height === 0) continue;
    if (style.appearance !== "none" || !select.parentElement?.querySelector("svg"))
      faults.push("not our style");
    if (style.backgroundColor !== getComputedStyle(document.body).backgroundColor)
      faults.push("another color");
    if (isPhone && height < 44) faults.push(`only ${height} px high`);
  }
  return faults;
}

/** Runs in the browser, for print media: what is not on paper as it should be. */
export function readPrinted(): { controls: string[]; cut: string[]; background: string; isWithin: boolean } {
  const isVisible = (element: Element) => element.checkVisibility();
  const controls = [...document.querySelectorAll("button, [role=tab], header, search, [data-sonner-toaster]")]
    .filter((each) => isVisible(each) && !each.matches("[data-row], [aria-pressed='true']"))
    .filter((each) => each.closest("main, body > div > header, [role=status]") !== null);
  const cut = [...document.querySelectorAll<HTMLElement>("main *")].filter(
    (each) =>
      isVisible(each) &&
      getComputedStyle(each).overflowX === "hidden" &&
      each.clientWidth > 1 &&
      each.scrollWidth > each.clientWidth + 1,
  );
  return {
    controls: controls.map((each) => each.outerHTML.slice(0, 100)),
    cut: cut.map((each) => each.outerHTML.slice(0, 100)),
    background: getComputedStyle(document.body).backgroundColor,
    isWithin: document.documentElement.scrollWidth <= innerWidth,
  };
}

/**
 * Runs in the browser: texts and controls that are outside the window or outside their card, that are cut
 * without an ellipsis, or that have almost no width; and the texts of the page that are shortened.
 */
export function readOverflows(shortMinPx: number): { faults: string[]; shortened: string[] } {
  const faults = new Set<string>();
  const shortened = new Set<string>();
  const { scrollWidth } = document.documentElement;
  if (scrollWidth > innerWidth) faults.add(`the page is ${scrollWidth} px wide`);
  const hasFrame = ({ borderLeftWidth, borderRightWidth, backgroundColor }: CSSStyleDeclaration) =>
    backgroundColor !== "rgba(0, 0, 0, 0)" ||
    (Number.parseFloat(borderLeftWidth) > 0 && Number.parseFloat(borderRightWidth) > 0);
  const check = ({ left, right }: DOMRect, around: Element | null, what: string) => {
    let [from, to] = [left, right];
    for (let box = around; box && box !== document.body; box = box.parentElement) {
      const style = getComputedStyle(box);
      if (/^(inline|contents)$/.test(style.display)) continue;
      if (/auto|scroll/.test(style.overflowX)) return;
      const edges = box.getBoundingClientRect();
      const isOutside = to > edges.right + 1 || from < edges.left - 1;
      if (/hidden|clip/.test(style.overflowX)) {
        if (edges.width <= 1 || edges.height <= 1) return;
        if (isOutside && style.textOverflow !== "ellipsis") faults.add(`cut: ${what}`);
        else if (isOutside && box.closest("main")) {
          shortened.add(box.textContent ?? "");
          if (edges.width < shortMinPx) faults.add(`shortened to ${Math.round(edges.width)} px: ${what}`);
        }
        [from, to] = [Math.max(from, edges.left), Math.min(to, edges.right)];
      } else if (isOutside && hasFrame(style)) faults.add(`outside ${box.tagName} ${box.className}: ${what}`);
    }
    if (to > innerWidth + 1 || from < -1) faults.add(`outside the window: ${what}`);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.textContent?.trim() ?? "";
    const { parentElement } = node;
    if (text === "" || !parentElement?.checkVisibility()) continue;
    // Only screen readers get it.
    if (parentElement.getBoundingClientRect().width <= 1) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const lines = [...range.getClientRects()];
    const what = `${parentElement.tagName} ${text.slice(0, 60)}`;
    for (const line of lines) check(line, parentElement, what);
    const widest = Math.max(0, ...lines.map(({ width }) => width));
    if (lines.length > 4 && widest < shortMinPx / 2)
      faults.add(`${lines.length} lines of ${widest} px: ${what}`);
  }
  for (const element of document.querySelectorAll("button, input, select, textarea, img, iframe, main svg"))
    if (element.checkVisibility() && element.getBoundingClientRect().width > 1)
      check(element.getBoundingClientRect(), element.parentElement, element.outerHTML.slice(0, 80));
  return { faults: [...faults], shortened: [...shortened] };
}

type Shifts = { shifts?: string[] };

/** Runs in the browser: records each layout shift that was not caused by user input. */
export function recordShifts(): void {
  const shifts: string[] = [];
  (window as Shifts).shifts = shifts;
  type Source = { node?: Node; previousRect: DOMRectReadOnly; currentRect: DOMRectReadOnly };
  type Shift = PerformanceEntry & { hadRecentInput: boolean; sources: Source[] };
  const format = ({ x, y, width, height }: DOMRectReadOnly) => `${x},${y} ${width}x${height}`;
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, sources } of list.getEntries() as Shift[]) {
      if (hadRecentInput) continue;
      // A text node that is replaced in place, such as a relative time, is reported although it did not move.
      const moved = sources.filter((each) => format(each.previousRect) !== format(each.currentRect));
      for (const { node, previousRect, currentRect } of moved) {
        const what = node instanceof Element ? node.outerHTML.slice(0, 200) : "a removed element";
        shifts.push(`${what}: ${format(previousRect)} to ${format(currentRect)}`);
      }
    }
  }).observe({ type: "layout-shift", buffered: true });
}

/** Runs in the browser: the recorded layout shifts. */
export const readShifts = (): string[] | undefined => (window as Shifts).shifts;
