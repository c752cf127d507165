import { expect, test } from "vitest";
import { findRestTarget } from "#server/startup/http/rest-target";

const find = (target: string, host = "localhost:3000", apiHost: string | null = null) =>
  findRestTarget(target, host, apiHost);

test.each([
  ["/api", "/api"],
  ["/api/", "/api/"],
  ["/api?x=1", "/api?x=1"],
  ["/api/emails?limit=1&tag=a%20b", "/api/emails?limit=1&tag=a%20b"],
  ["/api//emails", "/api//emails"],
  ["/api/%zz", "/api/%zz"],
  ["/api/emails/%00%ff", "/api/emails/%00%ff"],
  ["/api/emails/../emails", "/api/emails"],
  ["/x/../api/emails", "/api/emails"],
  ["/api/auth/../emails", "/api/emails"],
  ["/api/authors", "/api/authors"],
  ["/api/é", "/api/%C3%A9"],
  ["/api/emails#part", "/api/emails"],
  ["http://elsewhere.example/api/emails?x=1", "/api/emails?x=1"],
  ["HTTPS://user@elsewhere.example:99/api/emails", "/api/emails"],
  ["http://[broken/api/emails", "/api/emails"],
  ["*", "/api"],
])("%s is handled by the REST API", (target, path) => {
  expect(find(target)).toBe(path);
});

test.each([
  "/",
  "",
  "/apis",
  "/API/emails",
  "//api/emails",
  "/console",
  "/api\\emails",
  "/api/auth",
  "/api/auth/session?x=1",
  "/api/trpc",
  "/api/trpc/emails.list?batch=1",
  "/api/emails/../auth/csrf",
  "http://elsewhere.example/",
  "/_next/static/x.js",
])("%s is handled by the pages", (target) => {
  expect(find(target)).toBeNull();
});

test("at the API host each path belongs to the REST API, with or without /api", () => {
  const at = (target: string, host = "API.example.com:443") => find(target, host, "api.example.com");
  expect(at("/emails?limit=1")).toBe("/api/emails?limit=1");
  expect(at("/")).toBe("/api");
  expect(at("//emails")).toBe("/api//emails");
  expect(at("/api/emails")).toBe("/api/emails");
  expect(at("/console")).toBe("/api/console");
  expect(at("/api/auth/session")).toBeNull();
  expect(at("/emails", "mail.example.com")).toBeNull();
  expect(at("/emails", "")).toBeNull();
  expect(at("http://api.example.com/emails", "mail.example.com")).toBe("/api/emails");
  expect(at("http://mail.example.com/emails")).toBeNull();
});
