import { describe, expect, test } from "vitest";
import { ownPath } from "#server/own-path";

const origin = "https://mail.example.org";

describe("after signing in, a person lands on a page of ours", () => {
  test.each([
    ["/console/emails?status=bounced", "/console/emails?status=bounced"],
    ["https://mail.example.org/console/emails", "/console/emails"],
    ["console/emails", "/console/emails"],
    ["/console/../console/emails", "/console/emails"],
    ["https:evil.example/x", "/evil.example/x"],
  ])("%s leads to %s", (wanted, path) => expect(ownPath(wanted, origin)).toBe(path));

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
    "http://[",
    "",
    null,
    undefined,
  ])("%j leads to the console", (wanted) => {
    const path = ownPath(wanted, origin);
    expect(path === "/console" || path === "/").toBe(true);
    expect(new URL(path, origin).origin).toBe(origin);
  });
});
