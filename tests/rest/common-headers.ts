import { expect } from "vitest";
import type { Reply } from "../support/rest";

/** Asserts the headers that every response has. */
export function expectCommonHeadersAt(
  now: Date,
  reply: Reply,
  type = "application/json; charset=utf-8",
): void {
  const { headers, body, status } = reply;
  for (const name of ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"])
    expect(headers[name], name).toMatch(/^\d+$/);
  const inMs = Number(headers["x-ratelimit-reset"]) * 1000 - now.getTime();
  expect(inMs).toBeGreaterThan(-5_000);
  expect(inMs).toBeLessThanOrEqual(61_000);
  expect(headers["ratelimit-reset"]).toMatch(/^\d{1,2}$/);
  expect(headers["content-type"]).toBe(status < 400 ? type : "application/json; charset=utf-8");
  expect(headers["cache-control"]).toBe("no-store");
  expect(headers["x-content-type-options"]).toBe("nosniff");
  expect(headers["x-request-id"]).toMatch(/^[A-Za-z0-9_-]{8,64}$/);
  if (status < 400) {
    expect(body).not.toHaveProperty("statusCode");
    expect(body).not.toHaveProperty("error");
    return;
  }
  expect(body.error).toEqual(expect.any(String));
  if (status === 403) expect(headers["x-backstamp-reason"]).toMatch(/^[a-z_]+;detail="[ -~]+"$/);
  else expect(headers).not.toHaveProperty("x-backstamp-reason");
  if ([401, 403, 429].includes(status)) return;
  expect(body).toMatchObject({
    message: body.error,
    name: expect.any(String),
    statusCode: status,
    request_id: headers["x-request-id"],
  });
}
