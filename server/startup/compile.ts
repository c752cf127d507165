import { readFile } from "node:fs/promises";
import path from "node:path";
import { build, type Plugin } from "esbuild";

/**
 * Replaces `import.meta.url` by the URL of the source relative to the compiled file, so paths relative to the
 * source stay valid, also when the project is moved. `import.meta.filename` remains the path of the compiled
 * file.
 */
const keepSourceUrl = (folder: string): Plugin => ({
  name: "keep-source-url",
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path: file }) => {
      const source = path.relative(folder, file).split(path.sep).map(encodeURIComponent).join("/");
      const url = `new URL(${JSON.stringify(source)}, import.meta.url).href`;
      return { contents: (await readFile(file, "utf8")).replaceAll("import.meta.url", url), loader: "ts" };
    });
  },
});

/**
 * Bundles programs with the project's own modules into a folder, each as `name.mjs`. Packages stay external.
 * Without this step, reading the sources would take longer than the rest of startup.
 */
export async function compilePrograms(sources: readonly string[], folder: string): Promise<void> {
  const outdir = path.resolve(folder);
  await build({
    entryPoints: [...sources],
    outdir,
    entryNames: "[name]",
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    sourcemap: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20",
    plugins: [keepSourceUrl(outdir)],
  });
}
