import { readFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";

/**
 * Replaces `import.meta.url` by the URL of the source, so paths relative to the source stay valid. `import.meta.filename`
 * remains the path of the compiled file.
 */
const keepSourceUrl: Plugin = {
  name: "keep-source-url",
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path: file }) => ({
      contents: (await readFile(file, "utf8")).replaceAll(
        "import.meta.url",
        JSON.stringify(pathToFileURL(file).href),
      ),
      loader: "ts",
    }));
  },
};

/**
 * Bundles programs with the project's own modules into a folder, each as `name.mjs`. Packages stay external. Without this
 * step, reading the sources would take longer than the rest of startup.
 */
export async function compilePrograms(sources: readonly string[], folder: string): Promise<void> {
  await build({
    entryPoints: [...sources],
    outdir: path.resolve(folder),
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    sourcemap: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20",
    plugins: [keepSourceUrl],
  });
}
