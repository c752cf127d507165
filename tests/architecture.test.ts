import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { findingsOf, RULES, type RuleName } from "./architecture/rules";
import { readSource, readSources } from "./architecture/source";
import { strayNames } from "./architecture/top-level";

const root = fileURLToPath(new URL("..", import.meta.url));
const sources = readSources(root);

describe("the project follows its architecture rules", () => {
  for (const rule of Object.keys(RULES) as RuleName[]) {
    test(rule, () => {
      expect(findingsOf(rule, sources)).toEqual([]);
    });
  }

  test("the top level contains only expected files and folders", () => {
    const gitignore = readFileSync(path.join(root, ".gitignore"), "utf8");
    expect(strayNames(readdirSync(root), gitignore)).toEqual([]);
  });
});

const nameOf = (file: string, text: string): string => `${file}: ${text.trim().split("\n")[0]}`;

type Planted = { file: string; text: string; message: RegExp };

/** For every rule, files that violate it. A rule without one does not compile. */
const PLANTED: Record<RuleName, Planted[]> = {
  "db imports no other folder and does not read the environment": [
    {
      file: "db/queue.ts",
      text: 'import { log } from "#server/platform/log";',
      message: /^db\/queue\.ts:1 imports "#server\/platform\/log"/,
    },
    { file: "db/a.ts", text: 'import type { A } from "../server/a";', message: /imports "\.\.\/server\/a"/ },
    { file: "db/a.ts", text: "const url = process.env.DATABASE_URL;", message: /process\.env/ },
    { file: "db/a.ts", text: "const { env } = process;", message: /env/ },
    { file: "db/a.ts", text: 'import { env } from "node:process";', message: /node:process/ },
  ],
  "mail imports no database and no entry point": [
    { file: "server/mail/a.ts", text: 'import { db } from "#db/client";', message: /#db\/client/ },
    { file: "server/mail/a.ts", text: 'import { sql } from "drizzle-orm";', message: /drizzle-orm/ },
    {
      file: "server/mail/transport/a.ts",
      text: 'import type { Deps } from "#server/deps";',
      message: /deps/,
    },
    { file: "server/mail/a.ts", text: 'import { a } from "#server/services/a";', message: /services/ },
    { file: "server/mail/a.ts", text: 'const a = await import("#server/rest/a");', message: /rest/ },
  ],
  "egress imports no database and no other folder of ours": [
    { file: "server/platform/egress/a.ts", text: 'import { db } from "#db/client";', message: /#db\/client/ },
    {
      file: "server/platform/egress/a.ts",
      text: 'import type { Deps } from "#server/deps";',
      message: /deps/,
    },
    {
      file: "server/platform/egress/a.ts",
      text: 'import { a } from "#server/services/a";',
      message: /services/,
    },
  ],
  "services import db, mail, platform, shared and one another": [
    { file: "server/services/a.ts", text: 'import { a } from "#server/rest/route";', message: /rest/ },
    { file: "server/services/a/b.ts", text: 'import { a } from "../../trpc/init";', message: /trpc/ },
    {
      file: "server/services/a.ts",
      text: 'import type { A } from "#server/delivery/a";',
      message: /delivery/,
    },
    {
      file: "server/services/a.ts",
      text: 'type A = import("#server/startup/deps").Built;',
      message: /startup/,
    },
    {
      file: "server/services/a.ts",
      text: 'import { cookies } from "next/headers";',
      message: /next\/headers/,
    },
    { file: "server/services/a.ts", text: 'import { auth } from "#server/auth";', message: /auth/ },
  ],
  "rest, trpc, submission and delivery do not import one another": [
    {
      file: "server/rest/a.ts",
      text: 'import { tick } from "#server/delivery/tick";',
      message: /delivery\/tick/,
    },
    { file: "server/trpc/a.ts", text: 'export { a } from "#server/rest/a";', message: /rest\/a/ },
    { file: "server/delivery/a.ts", text: 'import type { A } from "#server/trpc/a";', message: /trpc\/a/ },
    { file: "server/submission/a.ts", text: 'import { a } from "#server/rest/a";', message: /rest\/a/ },
    { file: "server/rest/a.ts", text: 'import { a } from "#server/submission/a";', message: /submission\/a/ },
  ],
  "the types of the effects are types only": [
    { file: "server/deps.ts", text: "export const clock = () => 1;", message: /deps\.ts:1 has/ },
    {
      file: "server/deps.ts",
      text: 'import { type A } from "./a";\nexport type B = A;',
      message: /deps\.ts:1/,
    },
  ],
  "submission does not import next": [
    { file: "server/submission/a.ts", text: 'import { after } from "next/server";', message: /next\/server/ },
  ],
  "rest uses web standards and does not import next": [
    {
      file: "server/rest/a.ts",
      text: 'import { NextResponse } from "next/server";',
      message: /next\/server/,
    },
    {
      file: "server/rest/a.ts",
      text: 'import type { IncomingMessage } from "node:http";',
      message: /node:http/,
    },
  ],
  "every file that declares routes is listed in server/rest/routes.ts": [
    { file: "server/rest/a.ts", text: "export const a = withApi({}, run);", message: /a\.ts:1 .*not list/ },
    {
      file: "app/api/a/route.ts",
      text: "export const a = withApi({}, run);",
      message: /declared in server\/rest/,
    },
  ],
  "route files of app import rest, auth, trpc, shared and startup/next; pages import trpc, auth and shared; none imports db":
    [
      { file: "app/page.tsx", text: 'import { a } from "#server/rest/a";', message: /rest\/a/ },
      {
        file: "app/console/page.tsx",
        text: 'import { a } from "#server/services/a";',
        message: /services\/a/,
      },
      { file: "app/console/page.tsx", text: 'import type { A } from "#db/schema/a";', message: /#db/ },
      {
        file: "app/console/a.tsx",
        text: 'import { a } from "#server/startup/next";',
        message: /startup\/next/,
      },
      {
        file: "app/api/[[...path]]/route.ts",
        text: 'import { a } from "#server/startup/http";',
        message: /startup\/http/,
      },
      { file: "app/api/x/route.ts", text: 'import { a } from "#db/client";', message: /#db\/client/ },
    ],
  "only the route files of app, and startup itself, import startup": [
    {
      file: "server/trpc/a.ts",
      text: 'import { deps } from "#server/startup/deps";',
      message: /startup\/deps/,
    },
    {
      file: "server/auth.ts",
      text: 'import { deps } from "#server/startup/deps";',
      message: /startup\/deps/,
    },
  ],
  "a client file imports values only from server/shared": [
    {
      file: "app/console/_ui/a.tsx",
      text: '"use client";\nimport { a } from "#server/trpc/a";',
      message: /a\.tsx:2 imports/,
    },
    {
      file: "app/console/_ui/a.tsx",
      text: '"use client";\nimport { type A } from "#server/trpc/a";',
      message: /import type/,
    },
  ],
  "services, mail, delivery, egress, rest and submission receive the clock, HTTP and settings as arguments": [
    { file: "server/services/a.ts", text: "\nconst now = Date.now();", message: /a\.ts:2 has `Date\.now`/ },
    { file: "server/services/a.ts", text: "const clock = Date.now;", message: /Date\.now/ },
    { file: "server/mail/a.ts", text: "const now = new Date();", message: /new Date\(\)/ },
    { file: "server/mail/a.ts", text: "const now = Date();", message: /Date\(\)/ },
    { file: "server/delivery/a.ts", text: "await fetch(url);", message: /fetch\(url\)/ },
    { file: "server/delivery/a.ts", text: "await globalThis.fetch(url);", message: /fetch/ },
    { file: "server/rest/a.ts", text: "const { SMTP_URL } = process.env;", message: /process\.env/ },
    { file: "server/rest/a.ts", text: 'const a = process["env"].A;', message: /process\["env"\]/ },
    { file: "server/submission/a.ts", text: "const now = Date.now();", message: /Date\.now/ },
  ],
  "services, rest and submission open no connections of their own": [
    { file: "server/services/a.ts", text: 'import net from "node:net";', message: /node:net/ },
    { file: "server/services/a.ts", text: 'import { resolve } from "node:dns/promises";', message: /dns/ },
    { file: "server/services/a.ts", text: 'import postgres from "postgres";', message: /postgres/ },
    { file: "server/rest/a.ts", text: 'import { request } from "undici";', message: /undici/ },
    { file: "server/submission/a.ts", text: 'import net from "node:net";', message: /node:net/ },
  ],
  "imports use #server and #db across folders, and relative paths inside one": [
    { file: "server/rest/a.ts", text: 'import { a } from "../errors";', message: /"\.\.\/errors"/ },
    { file: "server/rest/a.ts", text: 'import { a } from "#server/rest/b";', message: /#server\/rest\/b/ },
    { file: "db/a.ts", text: 'import { a } from "#db/b";', message: /#db\/b/ },
    { file: "tests/a.test.ts", text: 'import { a } from "../server/a";', message: /\.\.\/server\/a/ },
    { file: "server/deps.ts", text: 'import type { A } from "./platform/a";', message: /platform/ },
  ],
  "no barrel files": [
    { file: "server/mail/index.ts", text: "export const a = 1;", message: /index/ },
    { file: "server/mail/a.ts", text: 'export * from "./b";', message: /export \*/ },
    { file: "server/mail/a.ts", text: 'export { b } from "./b";', message: /export \{ b \}/ },
    { file: "server/mail/a.ts", text: 'export type { B } from "./b";', message: /export type/ },
  ],
  "default exports only where Next or a tool requires them": [
    { file: "server/rest/a.ts", text: "export default 1;", message: /export default 1/ },
    { file: "app/console/_ui/button.tsx", text: "export default function A() {}", message: /export default/ },
  ],
  "only startup writes to the console of the process": [
    { file: "server/services/a.ts", text: "console.log(1);", message: /console\.log/ },
    { file: "app/page.tsx", text: "globalThis.console.error(1);", message: /console\.error/ },
  ],
  "domain names are mapped by server/mail/address/idna.ts, not by Node": [
    {
      file: "server/mail/a.ts",
      text: '\nimport { domainToASCII as map } from "node:url";',
      message: /a\.ts:2 has `domainToASCII/,
    },
    { file: "db/a.ts", text: 'import { domainToUnicode } from "url";', message: /domainToUnicode/ },
    { file: "app/a.ts", text: "const a = url.domainToASCII(name);", message: /url\.domainToASCII/ },
  ],
  "no check is suppressed": [
    { file: "server/a.ts", text: "// @ts-ignore\nconst a = 1;", message: /a\.ts:1 has/ },
    { file: "tests/a.test.ts", text: "const a = 1; /* biome-ignore lint: x */", message: /biome-ignore/ },
  ],
  "no import cycles": [
    { file: "server/mail/a.ts", text: 'import type { A } from "./a";', message: /a\.ts:1 imports "\.\/a"/ },
  ],
  "imports go from a layer to the layers below it": [
    { file: "server/platform/a.ts", text: 'import type { A } from "#server/auth/a";', message: /auth/ },
    { file: "server/services/a.ts", text: 'import { a } from "#server/trpc/a";', message: /trpc/ },
    { file: "server/shared/a.ts", text: 'import { a } from "#server/mail/a";', message: /mail/ },
    { file: "server/rest/a.ts", text: 'import { a } from "#server/startup/a";', message: /startup/ },
  ],
  "no folder above 12 files": [],
  "no comment line above 110 characters": [
    { file: "server/a.ts", text: `// ${"a ".repeat(60)}`, message: /a\.ts:1 .*122|123/ },
    { file: "server/a.ts", text: `/**\n * ${"a ".repeat(60)}\n */`, message: /a\.ts:2/ },
  ],
  "no file above 350 lines": [
    {
      file: "server/a.ts",
      text: "const a = 1;\n".repeat(351).replaceAll("const a", "var a"),
      message: /351 lines/,
    },
    { file: "app/a.css", text: "a { color: red }\n".repeat(351), message: /351 lines/ },
  ],
};

describe("each rule detects its violations", () => {
  for (const [rule, planted] of Object.entries(PLANTED) as [RuleName, Planted[]][]) {
    for (const { file, text, message } of planted) {
      test(`${rule}: ${nameOf(file, text)}`, () => {
        expect(findingsOf(rule, [readSource(file, text)])).toEqual([expect.stringMatching(message)]);
      });
    }
  }

  test("a cycle through other files is reported in each of them", () => {
    const cycle = [
      readSource("server/mail/a.ts", 'import { b } from "./b";\nimport { d } from "./d";'),
      readSource("server/mail/b.ts", 'import { c } from "#server/platform/c";'),
      readSource("server/platform/c.ts", 'import type { A } from "#server/mail/a";'),
      readSource("server/mail/d.ts", ""),
    ];
    expect(findingsOf("no import cycles", cycle)).toEqual([
      expect.stringMatching(/^server\/mail\/a\.ts:1 imports "\.\/b"/),
      expect.stringMatching(/^server\/mail\/b\.ts:1/),
      expect.stringMatching(/^server\/platform\/c\.ts:1/),
    ]);
  });

  test("a folder with 13 files is reported once", () => {
    const folder = Array.from({ length: 13 }, (_, n) => readSource(`server/mail/a/${n}.ts`, ""));
    expect(findingsOf("no folder above 12 files", folder)).toEqual([
      expect.stringMatching(/^server\/mail\/a\/0\.ts:1 is one of 13 files in server\/mail\/a/),
    ]);
    expect(findingsOf("no folder above 12 files", folder.slice(1))).toEqual([]);
  });

  test("an unexpected file at the top level is reported, and an ignored one is not", () => {
    const names = [
      "app",
      ".github",
      "utils",
      "node_modules",
      "notes.md",
      "tsconfig.tsbuildinfo",
      "README.md",
    ];
    expect(strayNames(names, "node_modules/\n*.tsbuildinfo\n")).toEqual(["utils", "notes.md"]);
  });
});

/** Code that resembles a violation. */
const ALLOWED_CODE: [file: string, text: string][] = [
  ["server/services/a.ts", '// fetch(, Date.now(), process.env\nconst text = "process.env new Date()";'],
  ["server/services/a.ts", "const a = (http: { fetch(url: string): void }) => http.fetch('x');"],
  ["server/services/a.ts", "const a = new Date(0);"],
  ["server/services/a.ts", 'import { a } from "#db/a";\nimport { b } from "./b";\nimport c from "uuid";'],
  ["server/rest/a.ts", 'import { a } from "#server/services/a";\nimport type { Ctx } from "#server/deps";'],
  ["server/delivery/a.ts", 'import { a } from "#server/mail/a";'],
  ["server/mail/transport/a.ts", 'import { a } from "../outcome";\nimport net from "node:net";'],
  ["server/startup/a.ts", 'import { a } from "#server/rest/a";\nconsole.log(process.env.A, Date.now());'],
  ["server/deps.ts", 'import type { A } from "#db/a";\nexport type B = A;'],
  [
    "app/console/page.tsx",
    'import { a } from "#server/trpc/a";\nexport default function P() { return <a.B />; }',
  ],
  ["app/console/a.tsx", '"use client";\nimport type { A } from "#server/services/a";\nexport const b = 1;'],
  [
    "app/api/[[...path]]/route.ts",
    'import { a } from "#server/startup/next";\nexport { a as GET, a as POST };',
  ],
  ["tests/a.test.ts", 'import { a } from "#server/a";\nimport { b } from "./support/b";'],
];

describe("code that resembles a violation is allowed", () => {
  for (const [file, text] of ALLOWED_CODE) {
    test(nameOf(file, text), () => {
      const rules = Object.keys(RULES) as RuleName[];
      expect(rules.flatMap((rule) => findingsOf(rule, [readSource(file, text)]))).toEqual([]);
    });
  }
});
