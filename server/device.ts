import Bowser from "bowser";

/** Names that may stand in a mail or a page: what a browser calls itself is otherwise whatever somebody typed. */
const BROWSERS: ReadonlySet<string> = new Set([
  "Chrome",
  "Chromium",
  "Firefox",
  "Internet Explorer",
  "Microsoft Edge",
  "Opera",
  "Safari",
  "Samsung Internet for Android",
  "Vivaldi",
  "Yandex Browser",
]);
const SYSTEMS: Record<string, string> = {
  Android: "Android",
  "Chrome OS": "Chrome OS",
  iOS: "iOS",
  Linux: "Linux",
  macOS: "macOS",
  Windows: "Windows",
};

/** What a browser says it is, as people call it: "Firefox on Linux". Null for anything that is not a known one. */
export function deviceOf(userAgent: string | null): string | null {
  if (userAgent === null) return null;
  const { browser, os } = Bowser.parse(userAgent.slice(0, 400) || "-");
  if (!browser.name || !BROWSERS.has(browser.name)) return null;
  const system = SYSTEMS[os.name ?? ""];
  return system === undefined ? browser.name : `${browser.name} on ${system}`;
}
