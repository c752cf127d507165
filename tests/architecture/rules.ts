import path from "node:path";
import type { Import, Source, Use } from "./source";

/** A violation of a rule, with a message that says how to fix it. */
export type Finding = { path: string; line: number; message: string };

/** A rule of the project. It checks one file, and can read all others. */
export type Rule = (file: Source, all: readonly Source[]) => Finding[];

/** Pages, layouts and what else Next finds by the name of the file and its default export. */
const NEXT_FILE =
  /^app\/(.*\/)?(page|layout|template|loading|error|not-found|global-error|default|forbidden|unauthorized|sitemap|robots|manifest|icon|apple-icon|opengraph-image)\.tsx?$/;
const ROUTE_FILE = /^app\/(.*\/)?route\.ts$/;
/** Settings of tools that require a default export. */
const SETTINGS_FILE =
  /(^|\/)[a-z]+\.config\.(ts|mjs)$|^proxy\.ts$|^tests\/support\/([a-z]+\/global-[a-z-]+|failed-files)\.ts$|^tests\/mutants\/reporter\.ts$/;
const LINES_MAX = 350;
const FILES_MAX = 12;

/**
 * From the lowest to the highest. `server/deps.ts` holds the types of the effects and is beside the layers.
 */
const LAYERS = [
  ["db"],
  ["server/shared"],
  ["server/platform", "server/mail"],
  ["server/services"],
  ["server/auth", "server/delivery"],
  ["server/rest", "server/trpc", "server/submission"],
  ["server/startup"],
  ["app"],
];

/** The modules of ours that each folder may import: a folder with its contents, or one file. */
const SERVICES_IMPORTS = [
  "db/",
  "server/mail/",
  "server/services/",
  "server/platform/",
  "server/shared/",
  "server/deps",
];
const MAIL_IMPORTS = ["server/mail/", "server/platform/", "server/shared/"];
const EGRESS = "server/platform/egress/";
const PAGES_IMPORTS = ["app/", "server/trpc/", "server/auth", "server/shared/"];
const ROUTES_IMPORTS = [...PAGES_IMPORTS, "server/rest/", "server/startup/next"];
const ENTRY_POINTS = ["server/rest", "server/trpc", "server/submission", "server/delivery"];
const EFFECTS_BY_ARGUMENT = [
  "server/services",
  "server/mail",
  "server/delivery",
  "server/rest",
  "server/submission",
];
const DATABASE_PACKAGES = /^(postgres|drizzle-orm)(\/|$)/;
const NETWORK_PACKAGES =
  /^(node:)?(net|tls|dgram|dns|dns\/promises|http|https|http2)$|^(undici|nodemailer)(\/|$)/;

/** The position of a file's layer; -1 if it is in none. */
const levelOf = (file: string): number =>
  LAYERS.findIndex((places) => places.some((place) => file.startsWith(`${place}/`)));

const isWithin = (target: string, place: string): boolean =>
  place.endsWith("/") ? target.startsWith(place) : target === place || target.startsWith(`${place}/`);

const folderOfTarget = (target: string): string => {
  const [top = "", next = "", ...rest] = target.split("/");
  if (top !== "server") return top;
  return rest.length > 0 ? `server/${next}` : "server";
};

function forbidImports(file: Source, isWrong: (found: Import) => boolean, reason: string): Finding[] {
  return file.imports
    .filter(isWrong)
    .map(({ specifier, line }) => ({ path: file.path, line, message: `imports "${specifier}": ${reason}` }));
}

const withoutExtension = (file: string): string => file.replace(/\.[a-z]+$/, "");

type Graph = { byTarget: Map<string, Source>; reached: Map<string, ReadonlySet<string>> };
const graphs = new WeakMap<readonly Source[], Graph>();

/** All files, without extension, that a file imports before it runs, directly or through others. */
function reachableFrom(start: string, all: readonly Source[]): ReadonlySet<string> {
  const byTarget = () => new Map(all.map((file) => [withoutExtension(file.path), file]));
  const graph = graphs.get(all) ?? { byTarget: byTarget(), reached: new Map() };
  graphs.set(all, graph);
  const known = graph.reached.get(start);
  if (known) return known;
  const reached = new Set([start]);
  graph.reached.set(start, reached);
  for (const target of reached)
    for (const { isOurs, isLazy, target: next } of graph.byTarget.get(target)?.imports ?? [])
      if (isOurs && !isLazy) reached.add(next);
  return reached;
}

function forbidUses(file: Source, kinds: readonly Use["kind"][], reason: string): Finding[] {
  return file.uses
    .filter(({ kind }) => kinds.includes(kind))
    .map(({ text, line }) => ({ path: file.path, line, message: `has \`${text}\`: ${reason}` }));
}

/** The rules for imports, effects and form. The key is the name of the test. */
export const RULES = {
  "db imports no other folder and does not read the environment": (file) =>
    file.folder !== "db"
      ? []
      : [
          ...forbidImports(
            file,
            ({ isOurs, target }) => isOurs && !isWithin(target, "db/"),
            "db depends on no other folder; pass what it needs as an argument",
          ),
          ...forbidUses(file, ["env"], "the URL of the database is an argument"),
        ],

  "mail imports no database and no entry point": (file) =>
    file.folder !== "server/mail"
      ? []
      : forbidImports(
          file,
          ({ isOurs, target }) =>
            DATABASE_PACKAGES.test(target) ||
            /^next(\/|$)/.test(target) ||
            (isOurs && !MAIL_IMPORTS.some((place) => isWithin(target, place))),
          "server/mail contains pure code, SMTP and DNS",
        ),

  "egress imports no database and no other folder of ours": (file) =>
    !file.path.startsWith(EGRESS)
      ? []
      : forbidImports(
          file,
          ({ isOurs, target }) => DATABASE_PACKAGES.test(target) || (isOurs && !isWithin(target, EGRESS)),
          "the guard only checks addresses",
        ),

  "services import db, mail, platform, shared and one another": (file) =>
    file.folder !== "server/services"
      ? []
      : forbidImports(
          file,
          ({ isOurs, target }) =>
            /^next(-auth)?(\/|$)/.test(target) ||
            (isOurs && !SERVICES_IMPORTS.some((place) => isWithin(target, place))),
          "a service depends on no entry point and no composition root",
        ),

  "rest, trpc, submission and delivery do not import one another": (file) =>
    !ENTRY_POINTS.includes(file.folder)
      ? []
      : forbidImports(
          file,
          ({ target }) => ENTRY_POINTS.some((entry) => entry !== file.folder && isWithin(target, entry)),
          "code that two entry points share belongs into a service",
        ),

  "the types of the effects are types only": (file) =>
    file.path !== "server/deps.ts" ? [] : forbidUses(file, ["value"], "server/deps.ts holds types only"),

  "submission does not import next": (file) =>
    file.folder !== "server/submission"
      ? []
      : forbidImports(
          file,
          ({ target }) => /^next(-auth)?(\/|$)/.test(target),
          "it runs only in a process of its own service",
        ),

  "rest uses web standards and does not import next": (file) =>
    file.folder !== "server/rest"
      ? []
      : forbidImports(
          file,
          ({ target }) => /^next(-auth)?(\/|$)/.test(target) || NETWORK_PACKAGES.test(target),
          "a handler gets a Request and returns a Response",
        ),

  "every file that declares routes is listed in server/rest/routes.ts": (file, all) => {
    const declared = file.uses.find(({ kind }) => kind === "withApi");
    if (!declared || file.folder === "tests") return [];
    const finding = (message: string) => [{ path: file.path, line: declared.line, message }];
    if (file.folder !== "server/rest") return finding("declares a route: routes are declared in server/rest");
    const list = all.find(({ path }) => path === "server/rest/routes.ts");
    const isListed = list?.imports.some(({ target, isType }) => !isType && `${target}.ts` === file.path);
    return isListed || file === list
      ? []
      : finding("declares a route that server/rest/routes.ts does not list");
  },

  "route files of app import rest, auth, trpc, shared and startup/next; pages import trpc, auth and shared; none imports db":
    (file) => {
      if (file.folder !== "app") return [];
      const allowed = ROUTE_FILE.test(file.path) ? ROUTES_IMPORTS : PAGES_IMPORTS;
      return forbidImports(
        file,
        ({ isOurs, isType, target }) =>
          isOurs &&
          !allowed.some((place) => isWithin(target, place)) &&
          !(isType && folderOfTarget(target).startsWith("server")),
        `here only ${allowed.slice(1).join(", ")} and types of server`,
      );
    },

  "only the route files of app, and startup itself, import startup": (file) =>
    !/^(db|server)/.test(file.folder) || file.folder === "server/startup"
      ? []
      : forbidImports(
          file,
          ({ target }) => isWithin(target, "server/startup"),
          "startup composes the others, so none of them may import it",
        ),

  "a client file imports values only from server/shared": (file) =>
    !file.isClient
      ? []
      : forbidImports(
          file,
          ({ isType, target }) =>
            !isType && isWithin(target, "server") && !isWithin(target, "server/shared/"),
          "use `import type`, or the code is sent to the browser",
        ),

  "services, mail, delivery, egress, rest and submission receive the clock, HTTP and settings as arguments": (
    file,
  ) =>
    EFFECTS_BY_ARGUMENT.includes(file.folder) || file.path.startsWith(EGRESS)
      ? forbidUses(file, ["clock", "fetch", "env"], "effects come through ctx, deps or an argument")
      : [],

  "services, rest and submission open no connections of their own": (file) =>
    ["server/services", "server/rest", "server/submission"].includes(file.folder)
      ? forbidImports(
          file,
          ({ target, isType }) => !isType && (NETWORK_PACKAGES.test(target) || target === "postgres"),
          "effects come through ctx or deps",
        )
      : [],

  "imports use #server and #db across folders, and relative paths inside one": (file) =>
    forbidImports(
      file,
      // Only tests import app and proxy.ts, so these have no import alias.
      ({ isOurs, specifier, target }) =>
        isOurs &&
        !(file.folder === "tests" && /^(app\/|proxy$)/.test(target ?? "")) &&
        specifier.startsWith(".") !== (folderOfTarget(target) === file.folder),
      "write #server/… or #db/… across folders, ./… inside one",
    ),

  "no barrel files": (file) => [
    ...(/(^|\/)index\.[a-z]+$/.test(file.path)
      ? [{ path: file.path, line: 1, message: "is called index: name it after its content" }]
      : []),
    ...forbidUses(file, ["star export", "forwarding"], "import from the original file"),
  ],

  "default exports only where Next or a tool requires them": (file) =>
    NEXT_FILE.test(file.path) || SETTINGS_FILE.test(file.path)
      ? []
      : forbidUses(file, ["default export"], "export it by name"),

  "only startup writes to the console of the process": (file) =>
    /^(db|server|app)/.test(file.folder) && file.folder !== "server/startup"
      ? forbidUses(file, ["console"], "log facts through deps.log")
      : [],

  "domain names are mapped by server/mail/address/idna.ts, not by Node": (file) =>
    /^(app|server|db)/.test(file.folder)
      ? forbidUses(file, ["domain mapping"], "its result differs between releases of Node; use toAsciiDomain")
      : [],

  "no check is suppressed": (file) =>
    forbidUses(file, ["suppression"], "fix what the compiler or the linter reports"),

  "no import cycles": (file, all) => {
    if (file.folder === "tests") return [];
    return forbidImports(
      file,
      ({ target, isLazy }) => !isLazy && reachableFrom(target, all).has(withoutExtension(file.path)),
      "it imports this file, directly or through others",
    );
  },

  "imports go from a layer to the layers below it": (file) => {
    const level = levelOf(file.path);
    if (level === -1) return [];
    return forbidImports(
      file,
      ({ isOurs, target }) => isOurs && level < levelOf(target),
      `${LAYERS[level]?.join(" and ")} may import only what is in their own or a lower layer`,
    );
  },

  "no folder above 12 files": (file, all) => {
    const folder = path.posix.dirname(file.path);
    const files = all.filter((other) => path.posix.dirname(other.path) === folder);
    const isFirst = files[0] === file;
    return !isFirst || !/^(app|server|db)/.test(folder) || files.length <= FILES_MAX
      ? []
      : [{ path: file.path, line: 1, message: `is one of ${files.length} files in ${folder}: group them` }];
  },

  "no comment line above 110 characters": (file) =>
    forbidUses(file, ["wide comment"], "wrap it as the formatter wraps code"),

  "no file above 350 lines": (file) =>
    file.lineCount <= LINES_MAX
      ? []
      : [
          {
            path: file.path,
            line: LINES_MAX,
            message: `has ${file.lineCount} lines, ${LINES_MAX} are the most`,
          },
        ],
} as const satisfies Record<string, Rule>;

export type RuleName = keyof typeof RULES;

/** All violations of one rule, as lines that an editor can open. */
export function findingsOf(rule: RuleName, all: readonly Source[]): string[] {
  const check: Rule = RULES[rule];
  return all.flatMap((file) =>
    check(file, all).map(({ path, line, message }) => `${path}:${line} ${message}`),
  );
}
