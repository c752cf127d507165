import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** A top-level declaration of a file: its name, its text, and whether it is exported. */
export type Part = { file: string; name: string; text: string };

/** A file's parts, and where each name that it imports comes from. */
export type Source = {
  file: string;
  parts: Map<string, Part>;
  imports: Map<string, { file: string; name: string }>;
};

// After formatting, a declaration begins in the first column and everything inside it does not.
const BEGINS = /^(?:export )?(?:default )?(?:async )?(?:const|let|function\*?|class|type|interface) (\w+)/;

/** Reads every source below some folders of the project, by its path. */
export function readFolders(root: string, folders: readonly string[]): Map<string, Source> {
  const files = folders.flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => /\.tsx?$/.test(file))
      .map((file) => `${folder}/${file}`),
  );
  return new Map(files.map((file) => [file, readSource(root, file)]));
}

function readSource(root: string, file: string): Source {
  const text = readFileSync(path.join(root, file), "utf8");
  const parts = new Map<string, Part>();
  let open: Part | null = null;
  for (const line of text.split("\n")) {
    const name = BEGINS.exec(line)?.[1];
    if (name !== undefined) {
      open = { file, name, text: "" };
      // Of an overloaded function the last one has the body.
      parts.set(name, open);
    } else if (/^(?:import|export|\/\*)/.test(line)) open = null;
    if (open) open.text += `${line}\n`;
  }
  return { file, parts, imports: importsOf(root, file, text) };
}

function importsOf(root: string, file: string, text: string): Source["imports"] {
  const imports: Source["imports"] = new Map();
  for (const [, names = "", from = ""] of text.matchAll(/^import \{([^}]*)\} from "([^"]+)"/gm)) {
    const target = resolve(root, file, from);
    if (target === null) continue;
    for (const each of names.split(",").map((name) => name.trim())) {
      const [name = "", local = name] = each.split(/ as /);
      if (name !== "" && !name.startsWith("type ")) imports.set(local, { file: target, name });
    }
  }
  return imports;
}

function resolve(root: string, file: string, from: string): string | null {
  const base = from.startsWith("#server/") ? from.slice(1) : path.join(path.dirname(file), from);
  if (!from.startsWith("#server/") && !from.startsWith(".")) return null;
  return [`${base}.ts`, `${base}.tsx`].find((each) => existsSync(path.join(root, each))) ?? null;
}
