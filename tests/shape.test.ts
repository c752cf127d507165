import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { projectRoot } from "./support/processes/processes";

/* What the linter cannot check. Only files that git tracks are read, not those of the reader's own. */

const git = spawnSync("git", ["-c", "safe.directory=*", "ls-files", "-z"], {
  cwd: projectRoot,
  encoding: "utf8",
});
const files = (git.stdout ?? "")
  .split("\0")
  .filter((file) => existsSync(path.join(projectRoot, file)) && file !== "");
const read = (file: string): string => readFileSync(path.join(projectRoot, file), "utf8");

const TOP_LEVEL =
  "app db server tests Dockerfile LICENSE README.md compose.yaml drizzle.config.ts instrumentation.ts next.config.ts package-lock.json package.json postcss.config.mjs proxy.ts tsconfig.json vercel.json";
const FILES_PER_FOLDER_MAX = 12;

/** Words that CONTRIBUTING replaces, the name of another product, and functions that are not used. */
const WORDS = [
  /\b(?:doors?|houses?|desks?|twins?|ceilings?|crimes?|heed(?:s|ed)?|whoever|whosoever|somebody|anybody|lest|whence)\b/i,
  /\b(?:ways? out|(?:far|other) sides?|set aside|under way|refused for good|puts? (?:it |them )?off|gi?ave? up|given up)\b/i,
  /\b(?:(?:is|are|was|were|be) told|told of|may do|no end|runs? out|in hand|last looks?|look again|in vain|will not do)\b/i,
  /\b(?:nobody (?:can|could) (?:know|tell)|row that waits|called it spam|fish for|the ones? who|at boot|second (?:try|look))\b/i,
  new RegExp(["post", "horn"].join(""), "i"),
  // The results differ between releases of Node; server/mail/address/idna.ts maps names.
  /\bdomainTo(?:ASCII|Unicode)\b/,
];
const SUPPRESSION = /(?:\/\/|\*) *(?:@ts-(?:ignore|nocheck|expect-error)|biome-ignore|eslint-disable)/;
const WIDE_COMMENT = /^(?=.{111})\s*(?:\/\/|\/?\*\*?) (?!\||.*https?:)/;

describe.runIf(git.status === 0)("the repository", () => {
  test("has only known names at the top level, and at most 12 files in a folder", () => {
    const top = new Set(
      files.map((file) => file.split("/")[0] ?? "").filter((name) => !name.startsWith(".")),
    );
    expect([...top].filter((name) => !TOP_LEVEL.split(" ").includes(name))).toEqual([]);
    const sources = files.filter((file) => /^(?:app|server|db)\/.*\.(?:tsx?|m?js|css)$/.test(file));
    const counts = new Map<string, number>();
    for (const folder of sources.map((file) => path.dirname(file)))
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > FILES_PER_FOLDER_MAX)).toEqual([]);
  });

  test("imports in services only nouns that are below", () => {
    const [, block = ""] = /```nouns\n([^`]+)/.exec(read(".github/ARCHITECTURE.md")) ?? [];
    const lines = block.trim().split("\n");
    const lineOf = new Map(
      lines.flatMap((line, at) =>
        line
          .trim()
          .split(" ")
          .map((noun) => [noun, at]),
      ),
    );
    const nounOf = (file: string) => /^server\/services\/([^/.]+)/.exec(file)?.[1];
    const faults = files.flatMap((file) => {
      const noun = nounOf(file);
      if (noun === undefined) return [];
      const targets = [...read(file).matchAll(/(?:from|import\() ?"(\.[^"]+)"/g)].map(([, source = ""]) =>
        nounOf(path.join(path.dirname(file), source)),
      );
      const isBelow = (target: string) => (lineOf.get(target) ?? -1) > (lineOf.get(noun) ?? lines.length);
      return targets
        .filter((to) => to !== undefined && to !== noun && !isBelow(to))
        .map((to) => ({ file, to }));
    });
    expect(faults).toEqual([]);
    expect(new Set(files.flatMap((file) => nounOf(file) ?? []))).toEqual(new Set(lineOf.keys()));
  });

  test("uses the words of CONTRIBUTING, suppresses no check and has no wide comment", () => {
    const texts = files.filter((file) => /\.(?:tsx?|mjs|md|example)$/.test(file));
    expect(texts.length).toBeGreaterThan(1_000);
    const faults = texts.flatMap((file) => {
      const isCode = /\.(?:tsx?|mjs)$/.test(file);
      const hasWords = /^(?:app|server|db|README|\.)/.test(file) && file !== ".github/CONTRIBUTING.md";
      const patterns = [...(hasWords ? WORDS : []), ...(isCode ? [SUPPRESSION, WIDE_COMMENT] : [])];
      const lines = read(file)
        .split("\n")
        .map((line, at) => ({ line, place: `${file}:${at + 1}` }));
      return lines.filter(({ line }) => patterns.some((each) => each.test(line)));
    });
    expect(faults).toEqual([]);
  });
});

describe("the lockfile", () => {
  type Locked = Record<"resolved" | "integrity", string | undefined> & {
    link?: boolean;
    inBundle?: boolean;
    optionalDependencies?: Record<string, string>;
  };
  const packages: Record<string, Locked> = JSON.parse(read("package-lock.json")).packages;

  test("names no registry, and has a checksum of every package", () => {
    const { "": _project, ...locked } = packages;
    const odd = Object.entries(locked).filter(
      ([, { resolved, integrity, link, inBundle }]) =>
        resolved?.startsWith("http") || !(integrity || link || inBundle),
    );
    expect(odd).toEqual([]);
  });

  test("contains the packages of every platform, which a clean install requires", () => {
    /** Whether Node finds a package from this folder, by its rule: in `node_modules` of each parent. */
    const isLocked = (place: string, name: string): boolean =>
      `${place && `${place}/`}node_modules/${name}` in packages ||
      (place !== "" && isLocked(place.slice(0, Math.max(0, place.lastIndexOf("/node_modules/"))), name));
    const missing = Object.entries(packages).flatMap(([place, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter((name) => !isLocked(place, name)),
    );
    expect(missing).toEqual([]);
  });
});
