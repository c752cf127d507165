import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { projectRoot } from "../../support/processes/processes";

const bytesMax = 50 * 1024 * 1024;
const server = path.join(projectRoot, ".next/server");
const instrumentation = path.join(server, "instrumentation.js");

/** The file and what the build found that it loads, which is what Vercel packs into a function. */
function traceOf(file: string): string[] {
  const { files } = JSON.parse(readFileSync(`${file}.nft.json`, "utf8")) as { files: string[] };
  return [file, ...files.map((each) => path.resolve(path.dirname(file), each))];
}

const sizeOf = (files: string[]): number =>
  [...new Set(files)].reduce((sum, file) => {
    const stat = statSync(file);
    return stat.isFile() ? sum + stat.size : sum;
  }, 0);

const functions = readdirSync(path.join(server, "app"), { recursive: true, encoding: "utf8" })
  .filter((name) => /(^|\/)(page|route)\.js$/.test(name))
  .map((name) => path.join(server, "app", name));

test("the traced files of each function are below 50 MB", () => {
  expect(functions.length).toBeGreaterThan(20);
  const sizes = functions.map((file) => ({
    name: path.relative(server, file),
    bytes: sizeOf([...traceOf(file), ...traceOf(instrumentation)]),
  }));
  expect(sizes.filter(({ bytes }) => bytes >= bytesMax)).toEqual([]);
  const largest = sizes.reduce((one, other) => (other.bytes > one.bytes ? other : one));
  process.stdout.write(`largest function: ${largest.name}, ${(largest.bytes / 1_048_576).toFixed(1)} MB\n`);
});

test("a function has the program that its threads for HTML load from disk", () => {
  const traced = traceOf(instrumentation).map((file) => path.relative(projectRoot, file));
  expect(traced).toContain("server/mail/mime/convert-html.mjs");
  for (const name of ["postgres", "nodemailer", "tinypool", "html-to-text"])
    expect(
      traced.filter((file) => file.startsWith(`node_modules/${name}/`)),
      name,
    ).not.toEqual([]);
});
