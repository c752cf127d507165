import { readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { config } from "../proxy";

const app = fileURLToPath(new URL("../app", import.meta.url));
const id = "01900000-0000-7000-8000-000000000000";

/** The addresses of every folder of `app` that has such a file, each without and with a slash at its end. */
const addressesOf = (name: string): string[] =>
  readdirSync(app, { recursive: true, encoding: "utf8" })
    .filter((file) => path.basename(file) === name)
    .map((file) =>
      path
        .dirname(file)
        .replace(/^\.$/, "")
        .replace(/\(.*?\)\//g, ""),
    )
    .map((folder) => `/${folder.replace(/\[\[\.\.\..+?\]\]/, "emails").replace(/\[.+?\]/g, id)}`)
    .flatMap((address) => (address === "/" ? [address] : [address, `${address}/`]));

/** Next compiles a matcher to the same expression, with the ends of the path around it. */
const isProxied = (address: string): boolean =>
  config.matcher.some((matcher) => new RegExp(`^${matcher}$`).test(address));

describe("the policy of pages", () => {
  test.each(addressesOf("route.ts"))("is not set on %s, whose answers have their own", (address) => {
    expect(isProxied(address)).toBe(false);
  });

  test.each([...addressesOf("page.tsx"), "/no/such/page", "/console/emails/x/body/more", "/apis"])(
    "is set on the page %s",
    (address) => {
      expect(isProxied(address)).toBe(true);
    },
  );

  test("is not set either where the name of a file, once it is decoded, has slashes", () => {
    expect(isProxied(`/console/emails/${id}/files/a/b`)).toBe(false);
  });
});
