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

/** Whether Node finds a package from this folder, by its rule: in `node_modules` of each parent. */
function isLocked(from: string, name: string): boolean {
  for (let place = from; ; place = place.slice(0, Math.max(0, place.lastIndexOf("/node_modules/")))) {
    if (`${place && `${place}/`}node_modules/${name}` in packages) return true;
    if (place === "") return false;
  }
}

test("the lockfile contains the packages of every platform, which a clean install requires", () => {
  const missing = Object.entries(packages).flatMap(([place, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter((name) => !isLocked(place, name)),
  );
  expect(missing).toEqual([]);
});

test("the lockfile names no registry", () => {
  expect(Object.values(packages).filter(({ resolved }) => resolved?.startsWith("http"))).toEqual([]);
});

test("every package in the lockfile has a checksum", () => {
  const unchecked = Object.entries(packages).filter(
    ([place, { integrity, link, inBundle }]) => place !== "" && !integrity && !link && !inBundle,
  );
  expect(unchecked.map(([place]) => place)).toEqual([]);
});
