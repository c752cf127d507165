import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseEnv, promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { projectRoot } from "../support/processes/processes";
import { blocksIn } from "./blocks";
import { NOT_RUN } from "./not-run";

/* What no test executes is at least parsed, by the program that would execute it. */

const run = promisify(execFile);

/** The command that parses a file of a language without executing it, and names its fault. */
const PARSERS: Record<string, readonly string[]> = {
  sh: ["/bin/sh", "-n"],
  python: ["/usr/bin/python3", "-c", "import ast, sys; ast.parse(open(sys.argv[1]).read())"],
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "backstamp-parsed-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function parse(language: string, text: string): Promise<void> {
  const [command = "", ...args] = PARSERS[language] ?? [];
  const file = path.join(folder, "sample");
  writeFileSync(file, text);
  await run(command, [...args, file]);
}

/** The lines of a file of settings that no reader of such files accepts as `NAME=value`. */
const oddSettings = (text: string): string[] =>
  text.split("\n").filter((line) => {
    if (/^\s*(#|$)/.test(line)) return false;
    return !/^[A-Z][A-Z_]*=\S/.test(line) || Object.keys(parseEnv(line)).length !== 1;
  });

describe("blocks that are not run", () => {
  const blocks = blocksIn("not run");

  test("each of them is parsed", () => {
    const languages = blocks.map(({ language }) => language);
    expect(languages.filter((language) => !(language in PARSERS) && language !== "ini")).toEqual([]);
  });

  for (const { name, language, text } of blocks) {
    const [command = "/bin/sh"] = PARSERS[language] ?? [];
    test.runIf(existsSync(command))(`${name} (${language})`, async () => {
      if (language === "ini") expect(oddSettings(text)).toEqual([]);
      else await parse(language, text);
    });
  }

  test("faults are found", async () => {
    await expect(parse("sh", "if true; then echo\n")).rejects.toThrow();
    await expect(parse("sh", "echo $(date\n")).rejects.toThrow();
    if (existsSync("/usr/bin/python3"))
      await expect(parse("python", "import os\nprint(os.environ\n")).rejects.toThrow();
    expect(oddSettings("# x\nA_B=1\nA B=1\nA=\nlower=1\n")).toEqual(["A B=1", "A=", "lower=1"]);
  });

  test("each file that a reason names exists", () => {
    const named = Object.values(NOT_RUN).flatMap(
      (reason) => reason.match(/(?:tests|\.ci)\/[\w./-]*\w|compose\.yaml/g) ?? [],
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((file) => !existsSync(path.join(projectRoot, file)))).toEqual([]);
  });
});
