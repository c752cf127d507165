import { expect, test, vi } from "vitest";

// A module of its own: an id is never less than the ones before it, and other tests of this process set the
// clock.
vi.resetModules();
const { isId, newId } = await import("#server/platform/ids");

test("successive ids are distinct and sort in order of creation", () => {
  const ids = Array.from({ length: 20_000 }, newId);
  expect(new Set(ids).size).toBe(ids.length);
  expect([...ids].sort()).toEqual(ids);
});

test("an id is a UUIDv7 of the current time with a unique random part", () => {
  const beforeMs = Date.now();
  const ids = Array.from({ length: 2_000 }, newId);
  const afterMs = Date.now();
  for (const id of ids) {
    expect(isId(id)).toBe(true);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const madeMs = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
    expect(madeMs).toBeGreaterThanOrEqual(beforeMs);
    expect(madeMs).toBeLessThanOrEqual(afterMs);
  }
  expect(new Set(ids.map((id) => id.slice(-10))).size).toBe(ids.length);
});
