import { readFolders, type Source } from "./source";

/** An entry point: a route of the API, a procedure or file of the console, or a CLI command. */
export type EntryPoint = { kind: "REST" | "console" | "command line"; name: string };

/** A function of a service, such as `domains/write.createDomain`, with all entry points that call it. */
export type Reached = { service: string; entryPoints: EntryPoint[] };

const SERVICE_FOLDERS = /^(?:server\/(?:rest|trpc|services|startup\/admin)|app)\//;

type Block = EntryPoint & { file: string; text: string; owner: string };

/** Reads from the source which entry point calls which function of a service. */
export function readEntryPoints(root: string): { entryPoints: EntryPoint[]; reached: Reached[] } {
  const all = readFolders(root, ["server", "app"]);
  // Sessions and startup are used by every entry point, so they are not listed.
  const sources = new Map([...all].filter(([file]) => SERVICE_FOLDERS.test(file)));
  const blocks = [...sources.values()].flatMap((source) => blocksOf(source, all));
  const found = new Map<string, EntryPoint[]>();
  for (const { file, text, owner, kind, name } of blocks)
    for (const service of servicesIn(sources, file, text, new Set([`${file}#${owner}`]))) {
      const entryPoints = found.get(service) ?? [];
      if (!entryPoints.some((entryPoint) => entryPoint.kind === kind && entryPoint.name === name))
        entryPoints.push({ kind, name });
      found.set(service, entryPoints);
    }
  return {
    entryPoints: blocks.map(({ kind, name }) => ({ kind, name })),
    reached: [...found]
      .map(([service, entryPoints]) => ({
        service,
        entryPoints: entryPoints.sort((a, b) => compare(a.name, b.name)),
      }))
      .sort((a, b) => compare(a.service, b.service)),
  };
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function blocksOf(source: Source, sources: ReadonlyMap<string, Source>): Block[] {
  const { file } = source;
  if (file.startsWith("server/rest/")) return routesOf(source, sources);
  if (file.startsWith("server/trpc/")) return proceduresOf(source, sources);
  if (file.startsWith("server/startup/admin/")) return commandsOf(source);
  return file.endsWith("/route.ts") && file.startsWith("app/console/") ? filesOf(source) : [];
}

/**
 * The path of a route is in its declaration, or in the service that creates links to it: `GET ${openPath}`.
 */
function routesOf({ file, parts, imports }: Source, sources: ReadonlyMap<string, Source>): Block[] {
  return [...parts.values()].flatMap(({ name: owner, text: list }) =>
    cut(list, /withApi\(\s*\{\s*route: ["`]([^"`]+)["`]/g).flatMap(({ name: declared, text }) => {
      const route = declared.replace(/\$\{(\w+Path)\}/, (_, constant: string) => {
        const imported = imports.get(constant);
        const said = imported && sources.get(imported.file)?.parts.get(imported.name)?.text;
        return /"(\/api[^"]*)"/.exec(said ?? "")?.[1] ?? "";
      });
      // Routes that differ only in their method are one declaration for all methods of an array.
      const all = /\(\[([^\]]*)\] as const\)/.exec(list)?.[1]?.match(/[A-Z]+/g) ?? [];
      return (route.startsWith("$") ? all : [""]).map((method) => {
        const name = route.replace(/^\$\{method\}/, method);
        return { kind: "REST" as const, name, file, text, owner };
      });
    }),
  );
}

/** A procedure is a property of a router, or of a record of procedures that is spread into one. */
function proceduresOf({ file, parts }: Source, sources: ReadonlyMap<string, Source>): Block[] {
  const mounted = sources.get("server/trpc/router.ts")?.parts.get("appRouter")?.text ?? "";
  return [...parts.values()].flatMap(({ name: owner, text }) => {
    const router = [...sources.values()]
      .filter((each) => each.file.startsWith("server/trpc/"))
      .flatMap((each) => [...each.parts.values()])
      .find((part) => part.text.includes(`...${owner},`))?.name;
    const noun = new RegExp(`\\b(\\w+): ${router ?? owner}\\b`).exec(mounted)?.[1];
    if (noun === undefined || owner === "appRouter") return [];
    return cut(text, /^ {2}(\w+): /gm).map(({ name, text: own }) => ({
      kind: "console" as const,
      name: `${noun}.${name}`,
      file,
      text: own,
      owner,
    }));
  });
}

function commandsOf({ file, parts }: Source): Block[] {
  return [...parts.values()].flatMap(({ name: owner, text }) => {
    const group = /program\s*\.command\("([\w-]+)"/.exec(text)?.[1] ?? "";
    return cut(text, /\.command\("([\w-]+)"/g)
      .filter(({ text: own }) => /\.action\(|\brunIn(Database|Team)\(/.test(own))
      .map(({ name, text: own }) => ({
        kind: "command line" as const,
        name: name === group ? name : `${group} ${name}`,
        file,
        text: own,
        owner,
      }));
  });
}

const filesOf = ({ file, parts }: Source): Block[] =>
  [...parts.values()]
    .filter(({ name }) => /^(GET|POST)$/.test(name))
    .map(({ name, text }) => ({
      kind: "console" as const,
      name: `${name} ${file.replace(/^app/, "").replace(/\/route\.ts$/, "")}`,
      file,
      text,
      owner: name,
    }));

/** The sections of a text that begin where the pattern matches, by its first group. */
function cut(text: string, pattern: RegExp): { name: string; text: string }[] {
  const starts = [...text.matchAll(pattern)];
  return starts.map((start, place) => ({
    name: start[1] ?? "",
    text: text.slice(start.index, starts[place + 1]?.index),
  }));
}

/** The functions of services that a text calls, directly or through other functions above the services. */
function servicesIn(
  sources: ReadonlyMap<string, Source>,
  file: string,
  text: string,
  seen: Set<string>,
): Set<string> {
  const source = sources.get(file);
  const found = new Set<string>();
  if (!source) return found;
  for (const [word] of text.matchAll(/\b[a-zA-Z_]\w*\b/g)) {
    const target = source.imports.get(word) ?? (source.parts.has(word) ? { file, name: word } : null);
    // The console's caller calls procedures, which are separate entry points.
    if (target === null || target.file === "server/trpc/router.ts") continue;
    if (seen.has(`${target.file}#${target.name}`)) continue;
    seen.add(`${target.file}#${target.name}`);
    const part = sources.get(target.file)?.parts.get(target.name);
    if (!part) continue;
    if (target.file.startsWith("server/services/")) {
      if (isFunction(part.text)) found.add(nameOf(target));
    } else for (const each of servicesIn(sources, target.file, part.text, seen)) found.add(each);
  }
  return found;
}

const nameOf = ({ file, name }: { file: string; name: string }) =>
  `${file.replace("server/services/", "").replace(/\.ts$/, "")}.${name}`;

/** Whether the first parameter is a context or dependencies; pure functions are not listed. */
const isFunction = (text: string): boolean =>
  /^export (?:async )?function\*? \w+(?:<[^(]*>)?\(\s*(?:\{[^}]*\}|\w+): (?:Ctx|\w*Deps|Pick<|Db)/.test(
    text,
  ) || /^export const \w+ = (?:async )?\(\s*(?:\{[^}]*\}|\w+): (?:Ctx|\w*Deps|Pick<|Db)/.test(text);
