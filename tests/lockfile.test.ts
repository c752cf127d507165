import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

type Locked = {
  resolved?: string;
  integrity?: string;
  link?: boolean;
  inBundle?: boolean;
  optionalDependencies?: Record<string, string>;
};

const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as {
  packages: Record<string, Locked>;
};

/** Whether Node would find a package from this place, by its own rule: in each `node_modules` on the way up. */
function isLocked(from: string, name: string): boolean {
  for (let place = from; ; place = place.slice(0, Math.max(0, place.lastIndexOf("/node_modules/")))) {
    if (`${place && `${place}/`}node_modules/${name}` in packages) return true;
    if (place === "") return false;
  }
}

test("the lockfile names the packages of every platform, or a clean install would refuse it", () => {
  const missing = Object.entries(packages).flatMap(([place, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter((name) => !isLocked(place, name)),
  );
  expect(missing).toEqual([]);
});

test("the lockfile binds nobody to a registry", () => {
  expect(Object.values(packages).filter(({ resolved }) => resolved?.startsWith("http"))).toEqual([]);
});

test("every package in the lockfile has a checksum, so that a changed one is not installed", () => {
  const unchecked = Object.entries(packages).filter(
    ([place, { integrity, link, inBundle }]) => place !== "" && !integrity && !link && !inBundle,
  );
  expect(unchecked.map(([place]) => place)).toEqual([]);
});
