import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { compilePrograms } from "./compile";

/* Compiles the programs of `npm start` and the command line next to the output of `next build`. */
const folder = fileURLToPath(new URL("../../.next/backstamp", import.meta.url));
const sourceOf = (name: string) => fileURLToPath(new URL(`./${name}.ts`, import.meta.url));

await rm(folder, { recursive: true, force: true });
await compilePrograms(["launch", "worker-process", "admin", "threads/thread"].map(sourceOf), folder);
