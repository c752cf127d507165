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
