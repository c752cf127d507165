import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { compilePrograms } from "./compile";

/* The programs of `npm start`, beside the pages that `next build` has made. */
const folder = fileURLToPath(new URL("../../.next/posthorn", import.meta.url));
const sourceOf = (name: string) => fileURLToPath(new URL(`./${name}.ts`, import.meta.url));

await rm(folder, { recursive: true, force: true });
await compilePrograms(["launch", "worker-process"].map(sourceOf), folder);
