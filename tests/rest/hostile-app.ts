import { afterAll, expect } from "vitest";
import type { Log } from "#server/platform/log";
import { openTestApp } from "./test-app";

/** A world for hostile requests, none of which may be an internal error. */
export async function openHostileApp() {
  const faults: unknown[] = [];
  const log: Log = { info() {}, warn() {}, error: (event, facts) => faults.push({ event, facts }) };
  afterAll(() => expect(faults).toEqual([]));
  return openTestApp({ domain: "linked.com", bodyMaxBytes: 3 * 1024 * 1024, log });
}
