import type { Tier } from "#server/limits/limits";
import type { CallOptions } from "../support/rest";

/** For keys that no limit shall meet. */
export const MANY: Record<Tier, number> = {
  "POST /api/emails": 100_000,
  "GET /api/emails": 100_000,
  "POST /api/templates": 100_000,
  other: 100_000,
};

/** With the four fields of the interface. */
export const MAIL = {
  from: "ann@posthorn.test",
  to: "delivered@posthorn.test",
  subject: "Hello",
  html: "<p>Hello</p>",
};
export const TEMPLATE = { name: "Welcome", html: "<p>Hello</p>" };

/** One good call of each endpoint that the document lists, and of one that it does not. */
export const CALLS: [tier: Tier, method: string, path: string, body: object | undefined, scope: string][] = [
  ["POST /api/emails", "POST", "/api/emails", MAIL, "emails:send"],
  ["GET /api/emails", "GET", "/api/emails", undefined, "emails:read"],
  ["POST /api/templates", "POST", "/api/templates", TEMPLATE, "templates:write"],
  ["other", "GET", "/api/templates", undefined, "templates:read"],
];

/** One call for each status of failure that a caller can cause. */
export const FAILURES: [status: number, method: string, path: string, options: CallOptions][] = [
  [400, "POST", "/api/emails", { raw: "{" }],
  [401, "GET", "/api/emails", { token: "none" }],
  [403, "POST", "/api/emails", { body: { ...MAIL, from: "ann@example.com" } }],
  [404, "GET", "/api/nothing-here", {}],
  [404, "GET", "/api/templates/nothing-here", {}],
  [405, "PUT", "/api/emails", {}],
  [415, "POST", "/api/emails", { raw: "x", headers: { "content-type": "text/plain" } }],
  [422, "POST", "/api/emails", { body: {} }],
];
