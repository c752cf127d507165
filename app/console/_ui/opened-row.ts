import { tryStorage } from "./storage";

/** The address of a list, with its filters and page, and that of the row that was opened from it. */
type Opened = { list: string; row: string };

const keyOf = (listPath: string) => `opened-row:${listPath}`;

/** The row that this tab last opened from the list at a path. */
export function lastOpenedRow(listPath: string): Opened | null {
  return tryStorage(() => JSON.parse(sessionStorage.getItem(keyOf(listPath)) ?? "null"));
}

/** Remembers the row that is opened from the list of this page. */
export function rememberRow(row: string): void {
  const { pathname, search } = location;
  const opened: Opened = { list: `${pathname}${search}`, row };
  tryStorage(() => sessionStorage.setItem(keyOf(pathname), JSON.stringify(opened)));
}
