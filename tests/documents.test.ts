import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { projectRoot } from "./support/processes/processes";

const read = (file: string): string => readFileSync(path.join(projectRoot, file), "utf8");
const below = (folder: string, type = /\.md$/): string[] =>
  readdirSync(path.join(projectRoot, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => type.test(name))
    .map((name) => path.posix.join(folder, ...name.split(path.sep)));
const documents = ["README.md", ...below(".github"), ...below("app/docs/guides")];

/** The anchors of headings, as GitHub builds them. */
const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );

/** The relative links of a document, in Markdown and in HTML, that lead nowhere. */
const brokenLinksOf = (file: string): string[] =>
  [...read(file).matchAll(/\]\(([^()\s]+)\)|(?:src|href)="([^"]+)"/g)]
    .map(([, markdown, html]) => markdown ?? html ?? "")
    .filter((link) => {
      if (/^(https?|mailto|cid):/.test(link)) return false;
      const [target = "", anchor] = link.split("#");
      const to = target === "" ? file : path.posix.join(path.posix.dirname(file), decodeURIComponent(target));
      if (!existsSync(path.join(projectRoot, to))) return true;
      return anchor !== undefined && !anchorsOf(read(to)).includes(anchor);
    });

const missingPathsOf = (file: string): string[] =>
  [...read(file).matchAll(/`((?:app|server|db|tests|\.github|\.ci)\/[\w./[\]-]+)`/g)]
    .map(([, named = ""]) => named)
    .filter(
      (named) =>
        !["", ".ts", ".tsx", ".test.ts"].some((end) => existsSync(path.join(projectRoot, named + end))),
    );

const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
const unknownCommandsOf = (file: string): string[] =>
  [...read(file).matchAll(/npm run (?:-s )?([\w:-]+)/g)]
    .map(([, script = ""]) => script)
    .filter((script) => !(script in scripts));

/** Names in the form of a setting that belong to samples. */
const OF_OTHERS = ["BACKSTAMP_KEY", "SMTP_ADDR", "SMTP_HOST", "SMTP_PORT"];
const settings = [...read(".env.example").matchAll(/^# ([A-Z][A-Z_]+)="/gm)].map(([, name]) => name);
const unknownSettingsOf = (file: string): string[] =>
  (read(file).match(/\b(?:BACKSTAMP|SMTP|DATABASE|REDIS|UPSTASH|CRON|AUTH)_[A-Z_]+\b/g) ?? []).filter(
    (name) => ![...settings, ...OF_OTHERS].includes(name),
  );

test.each([
  ["link", brokenLinksOf],
  ["path", missingPathsOf],
  ["npm script", unknownCommandsOf],
  ["setting", unknownSettingsOf],
])("each %s that a document names exists", (_, faultsOf) => {
  expect(documents.flatMap((file) => faultsOf(file).map((fault) => `${file}: ${fault}`))).toEqual([]);
});

test("each setting that a message of the product names exists", () => {
  // Former names, and what to set instead. The name of the program.
  const texts = ["server", "app"].flatMap((folder) => below(folder, /(?<!env\/replaced)\.tsx?$/));
  const unknown = texts.flatMap((file) =>
    unknownSettingsOf(file).filter((name) => name.startsWith("BACKSTAMP_") && name !== "BACKSTAMP_CLI"),
  );
  expect(unknown).toEqual([]);
});
