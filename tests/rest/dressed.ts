import { expect } from "vitest";
import type { Reply } from "../support/rest";

/** What every answer wears, whatever it says. */
export function expectDressedAt(now: Date, reply: Reply, answers = "application/json; charset=utf-8"): void {
  const { headers, body, status } = reply;
  for (const name of ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"])
    expect(headers[name], name).toMatch(/^\d+$/);
  const inMs = Number(headers["x-ratelimit-reset"]) * 1000 - now.getTime();
  expect(inMs).toBeGreaterThan(-5_000);
  expect(inMs).toBeLessThanOrEqual(61_000);
  expect(headers["ratelimit-reset"]).toMatch(/^\d{1,2}$/);
  expect(headers["content-type"]).toBe(status < 400 ? answers : "application/json; charset=utf-8");
  expect(headers["cache-control"]).toBe("no-store");
  expect(headers["x-content-type-options"]).toBe("nosniff");
  expect(headers["x-request-id"]).toMatch(/^[A-Za-z0-9_-]{8,64}$/);
  if (status < 400) {
    expect(body).not.toHaveProperty("statusCode");
    expect(body).not.toHaveProperty("error");
    return;
  }
  expect(body.error).toEqual(expect.any(String));
  if ([401, 403, 429].includes(status)) return;
  expect(body).toMatchObject({
    message: body.error,
    name: expect.any(String),
    statusCode: status,
    request_id: headers["x-request-id"],
  });
}
