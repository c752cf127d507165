import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { type ESTree, parseSync } from "vite";

/** What a file brings in. `target` is a path of ours without extension, or the package's specifier. */
export type Import = {
  specifier: string;
  target: string;
  isOurs: boolean;
  /** Gone after compilation. `import { type A }` is not: the module is still loaded. */
  isType: boolean;
  /** `import()`: the module is loaded later. */
  isLazy: boolean;
  line: number;
};

/** Something that a file does which a rule may forbid. */
export type Use = {
  kind:
    | "clock"
    | "fetch"
    | "env"
    | "console"
    | "default export"
    | "star export"
    | "forwarding"
    | "value"
    | "withApi"
    | "suppression";
  /** As it stands in the text, shortened. */
  text: string;
  line: number;
};

/** One source file, read for the rules. `path` is relative to the project's root, with forward slashes. */
export type Source = {
  path: string;
  folder: string;
  lineCount: number;
  isClient: boolean;
  imports: Import[];
  uses: Use[];
};

const CODE = /\.(ts|tsx|mts|mjs|js)$/;
/** Written by Next, ignored by git. */
const GENERATED = "next-env.d.ts";
const SUPPRESSION = /@ts-(ignore|nocheck|expect-error)|biome-ignore|eslint-disable/;

/** `server/startup/x.ts` is in `server/startup`, `server/deps.ts` in `server`, `db/…`, `app/…` and `tests/…` in those; else "". */
export function folderOf(file: string): string {
  const [top = "", next = "", ...rest] = file.split("/");
  if (top === "server") return rest.length > 0 ? `server/${next}` : "server";
  return ["db", "app", "tests"].includes(top) ? top : "";
}

/** Reads every source file of the project: what lies in its folders and at the top. */
export function readSources(root: string): Source[] {
  const top = readdirSync(root).filter((name) => CODE.test(name) && name !== GENERATED);
  const below = ["app", "server", "db", "tests"].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => CODE.test(name) && !name.split(path.sep).includes(".artifacts"))
      .map((name) => path.posix.join(folder, ...name.split(path.sep))),
  );
  return [...top, ...below].map((file) => readSource(file, readFileSync(path.join(root, file), "utf8")));
}

/** Reads one file's text. Throws where it is no TypeScript. */
export function readSource(file: string, text: string): Source {
  const { program, comments, errors } = parseSync(path.basename(file), text);
  if (errors[0]) throw new Error(`${file} cannot be parsed: ${errors[0].message}`);
  const lineAt = (offset: number): number => text.slice(0, offset).split("\n").length;
  const imports: Import[] = [];
  const uses: Use[] = [];
  const addImport = (
    source: ESTree.Expression | ESTree.StringLiteral | null,
    isType: boolean,
    isLazy: boolean = false,
  ) => {
    if (source?.type !== "Literal" || typeof source.value !== "string") return;
    imports.push({ ...resolve(file, source.value), isType, isLazy, line: lineAt(source.start) });
  };
  const note = (kind: Use["kind"], { start, end }: { start: number; end: number }) => {
    const excerpt = text.slice(start, end).split("\n")[0]?.slice(0, 60) ?? "";
    uses.push({ kind, text: excerpt, line: lineAt(start) });
  };

  for (const node of nodesOf(program)) {
    switch (node.type) {
      case "ImportDeclaration":
        addImport(node.source, node.importKind === "type");
        break;
      case "ImportExpression":
        addImport(node.source, false, true);
        break;
      case "TSImportType":
        addImport(node.source, true);
        break;
      case "ExportNamedDeclaration":
        addImport(node.source, node.exportKind === "type");
        if (node.source) note("forwarding", node);
        break;
      case "ExportAllDeclaration":
        addImport(node.source, node.exportKind === "type");
        note("star export", node);
        break;
      case "ExportDefaultDeclaration":
        note("default export", node);
        break;
      default: {
        const kind = effectOf(node);
        if (kind) note(kind, node);
      }
    }
  }
  for (const { specifier, line } of imports) {
    if (/^(node:)?process$/.test(specifier)) uses.push({ kind: "env", text: specifier, line });
  }
  for (const statement of program.body) if (isValue(statement)) note("value", statement);
  for (const comment of comments) if (SUPPRESSION.test(comment.value)) note("suppression", comment);
  return {
    path: file,
    folder: folderOf(file),
    lineCount: text.trimEnd().split("\n").length,
    isClient: program.body.some(
      (statement) => "directive" in statement && statement.directive === "use client",
    ),
    imports,
    uses,
  };
}

/** A node and everything below it, in the order of the text. */
function* nodesOf(value: unknown): Generator<ESTree.Node> {
  if (typeof value !== "object" || value === null) return;
  if ("type" in value && typeof value.type === "string") yield value as ESTree.Node;
  for (const part of Object.values(value)) yield* nodesOf(part);
}

/** Which effect, or which of our own declarations, a node reaches for. */
function effectOf(node: ESTree.Node): Use["kind"] | null {
  switch (node.type) {
    case "CallExpression":
      if (isGlobal(node.callee, "Date")) return "clock";
      if (isGlobal(node.callee, "withApi")) return "withApi";
      return isGlobal(node.callee, "fetch") ? "fetch" : null;
    case "NewExpression":
      return isGlobal(node.callee, "Date") && node.arguments.length === 0 ? "clock" : null;
    case "MemberExpression":
      if (isGlobal(node.object, "Date") && propertyOf(node) === "now") return "clock";
      if (isGlobal(node.object, "process") && propertyOf(node) === "env") return "env";
      return isGlobal(node.object, "console") ? "console" : null;
    case "VariableDeclarator":
      return node.init && isGlobal(node.init, "process") && node.id.type === "ObjectPattern" ? "env" : null;
    default:
      return null;
  }
}

function resolve(file: string, specifier: string): Pick<Import, "specifier" | "target" | "isOurs"> {
  const withoutExtension = specifier.replace(CODE, "");
  if (/^#(server|db)\//.test(specifier))
    return { specifier, target: withoutExtension.slice(1), isOurs: true };
  if (!/^\.{1,2}(\/|$)/.test(specifier)) return { specifier, target: specifier, isOurs: false };
  const target = path.posix.normalize(path.posix.join(path.posix.dirname(file), withoutExtension));
  return { specifier, target, isOurs: true };
}

/** `name` itself, or `name` as a property of the global object. */
function isGlobal(node: ESTree.Node, name: string): boolean {
  if (node.type === "Identifier") return node.name === name;
  return (
    node.type === "MemberExpression" &&
    node.object.type === "Identifier" &&
    ["globalThis", "global", "window", "self"].includes(node.object.name) &&
    propertyOf(node) === name
  );
}

function propertyOf(node: ESTree.MemberExpression): string | null {
  const { property } = node;
  if (!node.computed && property.type === "Identifier") return property.name;
  return property.type === "Literal" && typeof property.value === "string" ? property.value : null;
}

/** Whether a statement leaves something behind at run time. */
function isValue(statement: ESTree.Statement | ESTree.Directive): boolean {
  switch (statement.type) {
    case "ImportDeclaration":
      return statement.importKind !== "type";
    case "ExportNamedDeclaration":
      return statement.declaration ? isValue(statement.declaration) : statement.exportKind !== "type";
    case "ExportAllDeclaration":
      return statement.exportKind !== "type";
    case "TSTypeAliasDeclaration":
    case "TSInterfaceDeclaration":
    case "TSModuleDeclaration":
      return false;
    default:
      return true;
  }
}
