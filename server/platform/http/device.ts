import Bowser from "bowser";

/** Only these names are shown in emails and pages, because a User-Agent header can contain any text. */
const BROWSER =
  /^(Chrome|Chromium|Firefox|Internet Explorer|Microsoft Edge|Opera|Safari|Samsung Internet for Android|Vivaldi|Yandex Browser)$/;
const SYSTEM = /^(Android|Chrome OS|iOS|Linux|macOS|Windows)$/;

/** The browser and system of a User-Agent header, such as "Firefox on Linux". Null for an unknown browser. */
export function deviceOf(userAgent: string | null): string | null {
  if (userAgent === null) return null;
  const { browser, os } = Bowser.parse(userAgent.slice(0, 400) || "-");
  if (!browser.name || !BROWSER.test(browser.name)) return null;
  return SYSTEM.test(os.name ?? "") ? `${browser.name} on ${os.name}` : browser.name;
}
