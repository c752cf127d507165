import { expect, test } from "vitest";
import { freshDatabase } from "../support/database/postgres";
import { type FunctionPlace, instrumentFile } from "./instrument";
import { traceAcceptedEmail } from "./trace";

/**
 * Version 0.1.0 had 142, of which 3 only forwarded. Lower it when the path becomes shorter; `npm run trace`
 * prints it.
 */
const functionsMax = 67;

test(`an email passes at most ${functionsMax} functions from the socket to the commit, and none that only forwards`, async () => {
  const database = await freshDatabase();
  const steps = await traceAcceptedEmail(database.url);
  await database.drop();
  const names = steps.map(({ file, name }) => `${file} ${name}`);
  expect(names).toEqual(expect.arrayContaining([expect.stringContaining("insert-submissions.ts")]));
  expect(names.length, names.join("\n")).toBeLessThanOrEqual(functionsMax);
  expect(steps.filter(({ isForwarding }) => isForwarding)).toEqual([]);
});

const FORWARDING: [isForwarding: boolean, text: string][] = [
  [true, "const a = (x: number, y: number) => b(x, y);"],
  [true, "async function a(x: number) { return await b(x); }"],
  [true, "function a(x: number) { b(deps, x); }"],
  [true, "const a = { b: () => c() };"],
  [false, "const a = (x: number) => b(x + 1);"],
  [false, "const a = (x: number, y: number) => b(y, x);"],
  [false, "const a = (x: number) => b(1, x);"],
  [false, "function a(x: number) { const y = 1; return b(x, y); }"],
];

test.each(FORWARDING)("whether a function only forwards: %s for %s", (isForwarding, text) => {
  const places: FunctionPlace[] = [];
  instrumentFile("server/a.ts", text, places);
  expect(places.map((place) => place.isForwarding)).toEqual([isForwarding]);
});

test("a callback belongs to the function that passes it on", () => {
  const places: FunctionPlace[] = [];
  const text = instrumentFile("a.ts", "const a = () => b((x) => ({ x }), { c() { return 1; } });", places);
  expect(places.map(({ name, parent }) => ({ name, parent }))).toEqual([
    { name: "a", parent: null },
    { name: "a …", parent: 0 },
    { name: "c", parent: 0 },
  ]);
  expect(text).toBe(
    "const a = () => (globalThis.recordCall?.(0), b((x) => (globalThis.recordCall?.(1), ({ x })), { c() {globalThis.recordCall?.(2); return 1; } }));",
  );
});
