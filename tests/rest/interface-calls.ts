import type { Tier } from "#server/shared/rate-limits";
import type { CallOptions } from "../support/rest";
import { EMAIL } from "./test-app";

/** Limits that no test reaches. */
export const MANY: Record<Tier, number> = {
  "POST /api/emails": 100_000,
  "GET /api/emails": 100_000,
  "POST /api/templates": 100_000,
  other: 100_000,
};

/** An email with the four fields of the specification. */
export const TEMPLATE = { name: "Welcome", html: "<p>Hello</p>" };

/** One valid call of each endpoint in the specification, and of one other endpoint. */
export const CALLS: [tier: Tier, method: string, path: string, body: object | undefined, scope: string][] = [
  ["POST /api/emails", "POST", "/api/emails", EMAIL, "emails:send"],
  ["GET /api/emails", "GET", "/api/emails", undefined, "emails:read"],
  ["POST /api/templates", "POST", "/api/templates", TEMPLATE, "templates:write"],
  ["other", "GET", "/api/templates", undefined, "templates:read"],
];

/** One call for each error status that a caller can cause. */
export const FAILURES: [status: number, method: string, path: string, options: CallOptions][] = [
  [400, "POST", "/api/emails", { raw: "{" }],
  [401, "GET", "/api/emails", { token: "none" }],
  [403, "POST", "/api/emails", { body: { ...EMAIL, from: "ann@example.com" } }],
  [404, "GET", "/api/nothing-here", {}],
  [404, "GET", "/api/templates/nothing-here", {}],
  [405, "PUT", "/api/emails", {}],
  [415, "POST", "/api/emails", { raw: "x", headers: { "content-type": "text/plain" } }],
  [422, "POST", "/api/emails", { body: {} }],
];
