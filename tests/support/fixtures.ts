import { afterAll, afterEach, beforeAll, beforeEach, onTestFinished } from "vitest";

type Opened = object & { close?(): unknown };

/** What `open` returns, anew for each test of the file and closed after it. */
export const forEachTest = <T extends Opened>(open: () => T | Promise<T>): T =>
  openIn(beforeEach, afterEach, open);

/** What `open` returns, for all tests of the file and closed after them. */
export const forAllTests = <T extends Opened>(open: () => T | Promise<T>): T =>
  openIn(beforeAll, afterAll, open);

/** Closes what a test has opened when the test has finished. */
export function closeAfterTest<T extends { close(): unknown }>(opened: T): T {
  onTestFinished(async () => void (await opened.close()));
  return opened;
}

type Hook = (run: () => Promise<void>) => void;

/** Stands for what is open at the moment: a property is read when a test reads it. */
function openIn<T extends Opened>(before: Hook, after: Hook, open: () => T | Promise<T>): T {
  let opened: T | undefined;
  before(async () => {
    opened = await open();
  });
  after(async () => {
    await opened?.close?.();
    opened = undefined;
  });
  return new Proxy({} as T, {
    get: (_, name) => Reflect.get(opened ?? {}, name),
    set: (_, name, value) => Reflect.set(opened ?? {}, name, value),
  });
}
