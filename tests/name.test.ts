import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
/** The name of another product, in parts so that this file does not contain it. */
const TAKEN_NAME = ["post", "horn"].join("");
const NOT_OURS = new Set(["node_modules", ".next", ".git", ".artifacts", "package-lock.json"]);
const DATA_DIR = ".backstamp";

function listFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (NOT_OURS.has(entry.name) || entry.name === DATA_DIR) return [];
    const file = path.join(folder, entry.name);
    return entry.isDirectory() ? listFiles(file) : [file];
  });
}

test("no file contains the name of another product", () => {
  const files = listFiles(root);
  expect(files.length).toBeGreaterThan(1_000);
  const found = files.filter((file) =>
    `${path.relative(root, file)}\n${readFileSync(file, "latin1")}`.toLowerCase().includes(TAKEN_NAME),
  );
  expect(found.map((file) => path.relative(root, file))).toEqual([]);
});
