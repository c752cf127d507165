import { describe, expect, test } from "vitest";
import { resolveRedirectPath } from "#server/platform/http/own-path";

const origin = "https://mail.example.org";

describe("after sign-in, the browser opens a local page", () => {
  test.each([
    ["/console/emails?status=bounced", "/console/emails?status=bounced"],
    ["https://mail.example.org/console/emails", "/console/emails"],
    ["console/emails", "/console/emails"],
    ["/login/return", "/login/return"],
    ["/console/../console/emails", "/console/emails"],
    ["https:evil.example/x", "/evil.example/x"],
  ])("%s redirects to %s", (wanted, path) => expect(resolveRedirectPath(wanted, origin)).toBe(path));

  test.each([
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "\t//evil.example",
    "/\r\n/evil.example",
    "https://evil.example/console",
    "https://mail.example.org.evil.example/console",
    "https://mail.example.org@evil.example/console",
    "https://user:word@mail.example.org/console",
    "http://mail.example.org/console",
    "https://mail.example.org:444/console",
    "javascript:alert(1)",
    "java\nscript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "https://mail.example.org//evil.example",
    "/.//evil.example",
    "/console/..//evil.example",
    "/api/auth/signout",
    "/login?callbackUrl=/login",
    "/login/return/../two-factor",
    "/login/returning",
    "http://[",
    "",
    null,
    undefined,
  ])("%j redirects to the console", (wanted) => {
    const path = resolveRedirectPath(wanted, origin);
    expect(path === "/console" || path === "/").toBe(true);
    expect(new URL(path, origin).origin).toBe(origin);
  });
});
