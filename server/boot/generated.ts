import { randomBytes, randomInt } from "node:crypto";
import { chown, mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";

/** What was made up for an installation because nobody gave it. */
const Generated = z.object({
  secret: z.string().optional(),
  adminPassword: z.string().optional(),
  /** Token of the first key. */
  firstKeyToken: z.string().optional(),
});
export type Generated = z.infer<typeof Generated>;

/** Where they are kept, with mode 0600. */
export const generatedFileOf = (dataDir: string): string => path.join(dataDir, "secrets.json");

/** Reads what was generated earlier; empty on the first start. Throws where the file is there but cannot be understood. */
export async function readGenerated(dataDir: string): Promise<Generated> {
  const file = generatedFileOf(dataDir);
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
  try {
    return Generated.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(
      `${file} cannot be read as secrets. Restore it from a copy; if it is removed, new ones are made and sessions end.`,
      { cause },
    );
  }
}

/** Keeps them, whole or not at all, readable by the data directory's owner alone. Only for whoever holds its lock. */
export async function writeGenerated(dataDir: string, generated: Generated): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const file = generatedFileOf(dataDir);
  const fresh = `${file}.${process.pid}`;
  await writeFile(fresh, `${JSON.stringify(generated, null, 2)}\n`, { mode: 0o600 });
  // Started once by root, the next start by the owner must still be able to read it.
  const owner = await stat(dataDir);
  if (process.getuid?.() === 0) await chown(fresh, owner.uid, owner.gid);
  await rename(fresh, file);
}

/** 256 random bits as text. */
export const makeSecret = (): string => randomBytes(32).toString("base64url");

// Without letters and digits that look alike, since it is typed by hand now and then.
const LEGIBLE = "abcdefghijkmnpqrstuvwxyz23456789";

/** A password of 100 random bits in groups of five. */
export function makePassword(): string {
  const group = () => Array.from({ length: 5 }, () => LEGIBLE[randomInt(LEGIBLE.length)]).join("");
  return [group(), group(), group(), group()].join("-");
}
