import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { projectRoot } from "../support/processes/processes";

const read = (file: string): string => readFileSync(path.join(projectRoot, file), "utf8");
const allowed = read(".dockerignore")
  .split("\n")
  .filter((line) => line.startsWith("!"))
  .map((line) => line.slice(1));

test("the build context contains only existing sources: no secret, no data and no output", () => {
  expect(read(".dockerignore").split("\n")).toContain("*");
  expect(readdirSync(projectRoot)).toEqual(expect.arrayContaining(allowed));
  for (const name of [".env", ".backstamp", ".git", ".next", "node_modules", "tests"])
    expect(allowed).not.toContain(name);
});

test("the image uses the Node release that the project recommends", () => {
  expect(read("Dockerfile")).toContain(`node:${read(".nvmrc").trim()}-`);
});
