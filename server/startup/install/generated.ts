import { randomBytes, randomInt } from "node:crypto";
import { chown, mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";

/** Secrets generated for an installation because they are not configured. */
const Generated = z.object({
  secret: z.string().optional(),
  adminPassword: z.string().optional(),
  /** Token of the first key. */
  firstKeyToken: z.string().optional(),
});
export type Generated = z.infer<typeof Generated>;

/** The file of the generated secrets, mode 0600. */
export const generatedFileOf = (dataDir: string): string => path.join(dataDir, "secrets.json");

/** Reads the generated secrets. Empty on the first start. Throws if the file exists but is not valid. */
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
      `${file} is not a valid secrets file. Restore it from a backup. If you delete it, new secrets are generated and all users are signed out.`,
      { cause },
    );
  }
}

/** Writes the secrets atomically, readable only by the owner of the data directory. The caller must hold its lock. */
export async function writeGenerated(dataDir: string, generated: Generated): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const file = generatedFileOf(dataDir);
  const fresh = `${file}.${process.pid}`;
  await writeFile(fresh, `${JSON.stringify(generated, null, 2)}\n`, { mode: 0o600 });
  // After a start as root, the owner of the data directory must still be able to read the file.
  const owner = await stat(dataDir);
  if (process.getuid?.() === 0) await chown(fresh, owner.uid, owner.gid);
  await rename(fresh, file);
}

/** 256 random bits as text. */
export const generateSecret = (): string => randomBytes(32).toString("base64url");

// Without characters that are easily confused, because the password may be typed by hand.
const LEGIBLE = "abcdefghijkmnpqrstuvwxyz23456789";

/** A password of 100 random bits in groups of five. */
export function generatePassword(): string {
  const group = () => Array.from({ length: 5 }, () => LEGIBLE[randomInt(LEGIBLE.length)]).join("");
  return [group(), group(), group(), group()].join("-");
}
