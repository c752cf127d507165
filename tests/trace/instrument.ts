import { readFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import { type ESTree, parseSync } from "vite";

/**
 * A function of ours. `parent` is the position in the list of the function around it, if this one is its
 * callback.
 */
export type FunctionPlace = {
  name: string;
  file: string;
  line: number;
  /** Whether its body is one call that passes all of its arguments on. */
  isForwarding: boolean;
  parent: number | null;
};

type Function = ESTree.Function | ESTree.ArrowFunctionExpression;
type Around = { name: string; callbackOf: number | null };

/**
 * Bundles a program into one file, in which every function below `server/` and `db/` reports its position in
 * the returned list to `globalThis.recordCall` when it is called.
 */
export async function buildInstrumented(
  root: string,
  source: string,
  outfile: string,
): Promise<FunctionPlace[]> {
  const places: FunctionPlace[] = [];
  const instrument: Plugin = {
    name: "instrument",
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, async ({ path: file }) => {
        const text = await readFile(file, "utf8");
        const name = path.relative(root, file);
        const contents = /^(server|db)\//.test(name) ? instrumentFile(name, text, places) : text;
        return {
          contents: contents.replaceAll("import.meta.url", `"${pathToFileURL(file).href}"`),
          loader: "ts",
        };
      });
    },
  };
  await build({
    entryPoints: [source],
    outfile,
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20",
    plugins: [instrument],
  });
  return places;
}

/**
 * The text of a file with a call of `recordCall` at the start of every function. Adds the functions to
 * `places`.
 */
export function instrumentFile(file: string, text: string, places: FunctionPlace[]): string {
  const inserts: { at: number; text: string }[] = [];

  const visit = (value: unknown, around: Around, parent: number | null): void => {
    if (Array.isArray(value)) {
      for (const item of value) visit(item, around, parent);
      return;
    }
    if (typeof value !== "object" || value === null) return;
    if (!("type" in value)) return;
    const node = value as ESTree.Node;
    if (isFunction(node)) {
      const index = places.length;
      const name = node.id?.name ?? around.name;
      const line = text.slice(0, node.start).split("\n").length;
      const isForwarding = around.callbackOf === null && isForwardingFunction(node);
      places.push({ name, file, line, isForwarding, parent: around.callbackOf });
      const { body } = node;
      if (body === null) return;
      const record = `globalThis.recordCall?.(${index})`;
      if (body.type === "BlockStatement") inserts.push({ at: body.start + 1, text: `${record};` });
      else {
        // Insertions at one position are applied in this order, so the brackets of nested functions stay
        // balanced.
        inserts.push({ at: node.body?.start ?? 0, text: `(${record}, ` }, { at: body.end, text: ")" });
      }
      for (const part of [node.params, body]) visit(part, { name: `${name} …`, callbackOf: null }, index);
      return;
    }
    for (const [key, part] of Object.entries(node)) {
      const isCall = node.type === "CallExpression" || node.type === "NewExpression";
      const isPartOfCall = isCall && (key === "arguments" || key === "callee");
      visit(
        part,
        { name: nameOf(node) ?? around.name, callbackOf: isPartOfCall ? parent : around.callbackOf },
        parent,
      );
    }
  };
  visit(parseSync(path.basename(file), text).program, { name: "module", callbackOf: null }, null);
  // From the end, so that the positions before it stay valid.
  return inserts
    .map((insert, order) => ({ ...insert, order }))
    .sort((a, b) => b.at - a.at || b.order - a.order)
    .reduce((out, { at, text: added }) => out.slice(0, at) + added + out.slice(at), text);
}

const isFunction = (node: ESTree.Node): node is Function =>
  node.type === "FunctionDeclaration" ||
  node.type === "FunctionExpression" ||
  node.type === "ArrowFunctionExpression";

function nameOf(node: ESTree.Node): string | undefined {
  switch (node.type) {
    case "VariableDeclarator":
      return node.id.type === "Identifier" ? node.id.name : undefined;
    case "Property":
    case "MethodDefinition":
      return node.key.type === "Identifier" ? node.key.name : undefined;
    default:
      return undefined;
  }
}

/**
 * Whether the body is one call to which the function passes all of its own arguments, in order, and no other
 * value.
 */
function isForwardingFunction({ params, body }: Function): boolean {
  let call: ESTree.Node | null | undefined = body;
  if (call?.type === "BlockStatement") {
    const [only, ...others] = call.body;
    if (others.length > 0) return false;
    if (only?.type === "ReturnStatement") call = only.argument;
    else if (only?.type === "ExpressionStatement") call = only.expression;
    else return false;
  }
  while (call?.type === "AwaitExpression" || call?.type === "ParenthesizedExpression")
    call = call.type === "AwaitExpression" ? call.argument : call.expression;
  if (call?.type !== "CallExpression") return false;
  const passed = call.arguments.map((argument) => (argument.type === "Identifier" ? argument.name : null));
  const own = params.map((param) => (param.type === "Identifier" ? param.name : undefined));
  return !passed.includes(null) && passed.filter((name) => own.includes(name ?? "")).join() === own.join();
}
