import { expect, test, vi } from "vitest";
import { onPackageManagerGone } from "#server/startup/launcher/parents";

const shellPid = 4_711;

test("a failed reading of /proc is not the end of the package manager, and its end is", async () => {
  vi.useFakeTimers();
  let readParent = (): string => `${process.pid} (node) S ${shellPid} 1`;
  const read = async (file: string) => {
    if (file === `/proc/${process.pid}/environ`) return "npm_lifecycle_event=start\0";
    if (file === `/proc/${process.pid}/stat`) return readParent();
    return "";
  };
  const gone = vi.fn();
  await onPackageManagerGone(gone, read);
  readParent = () => {
    throw Object.assign(new Error("too many open files"), { code: "EMFILE" });
  };
  await vi.advanceTimersByTimeAsync(10_000);
  expect(gone).not.toHaveBeenCalled();
  readParent = () => `${process.pid} (node) S 1 1`;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(gone).toHaveBeenCalledTimes(1);
  vi.useRealTimers();
});
