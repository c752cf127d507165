import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseEnv, promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { blocksIn } from "./blocks";

/* What no test executes is at least parsed, by the program that would execute it. */

const run = promisify(execFile);

/** The command that parses a file of a language without executing it, and names its fault. */
const PARSERS: Record<string, readonly string[]> = {
  sh: ["/bin/sh", "-n"],
  python: ["/usr/bin/python3", "-c", "import ast, sys; ast.parse(open(sys.argv[1]).read())"],
  toml: ["/usr/bin/python3", "-c", "import tomllib, sys; tomllib.load(open(sys.argv[1], 'rb'))"],
  conf: [
    "/usr/bin/python3",
    "-c",
    "import configparser, sys; configparser.ConfigParser().read_string('[main]\\n' + open(sys.argv[1]).read())",
  ],
  json: ["/usr/bin/python3", "-m", "json.tool"],
  js: [process.execPath, "--check"],
  php: ["/usr/bin/php", "-l"],
  ruby: ["/usr/bin/ruby", "-c"],
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "backstamp-parsed-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function parse(language: string, text: string): Promise<void> {
  const [command = "", ...args] = PARSERS[language] ?? [];
  const file = path.join(folder, "sample.mjs");
  writeFileSync(file, text);
  await run(command, [...args, file]);
}

/** The lines of a file of settings that no reader of such files accepts as `NAME=value`. */
const oddSettings = (text: string): string[] =>
  text.split("\n").filter((line) => {
    if (/^\s*(#|$)/.test(line)) return false;
    return !/^[A-Z][A-Z_]*=\S/.test(line) || Object.keys(parseEnv(line)).length !== 1;
  });

test("each block that is not run is parsed", async () => {
  for (const { name, language, text } of blocksIn("not run")) {
    if (language === "ini") expect([name, oddSettings(text)]).toEqual([name, []]);
    else {
      const [command = ""] = PARSERS[language] ?? [];
      expect([name, command]).not.toEqual([name, ""]);
      if (existsSync(command)) await parse(language, text);
    }
  }
});
