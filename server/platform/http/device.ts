import Bowser from "bowser";

/** Only these names are shown in emails and pages, because a User-Agent header can contain any text. */
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

/** The browser and system of a User-Agent header, such as "Firefox on Linux". Null for an unknown browser. */
export function deviceOf(userAgent: string | null): string | null {
  if (userAgent === null) return null;
  const { browser, os } = Bowser.parse(userAgent.slice(0, 400) || "-");
  if (!browser.name || !BROWSERS.has(browser.name)) return null;
  const system = SYSTEMS[os.name ?? ""];
  return system === undefined ? browser.name : `${browser.name} on ${system}`;
}
