import { randomBytes, randomInt } from "node:crypto";
import { mkdir, open, readFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import type { Settings } from "#server/platform/env/settings";
import { replaceForOwner } from "../launcher/write-for-owner";

/** Secrets generated for an installation because they are not configured. */
const Generated = z.object({
  secret: z.string().optional(),
  /** Former secrets, the newest first. They decrypt what is stored and verify links. */
  oldSecrets: z.array(z.string()).optional(),
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

/**
 * Writes the secrets atomically and durably, readable only by the owner of the data directory: a crash leaves
 * the old file or the new one. The caller must hold the lock of the directory.
 */
export async function writeGenerated(dataDir: string, generated: Generated): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await replaceForOwner(generatedFileOf(dataDir), `${JSON.stringify(generated, null, 2)}\n`);
  await syncFolder(dataDir);
}

/** Makes a rename durable. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The former secrets: those of the settings, or of the data directory if its secret is used. */
export const oldSecretsOf = (
  settings: Pick<Settings, "secret" | "oldSecrets">,
  { oldSecrets = [] }: Generated,
): string[] => (settings.secret === null ? oldSecrets : settings.oldSecrets);

/** 256 random bits as text. */
export const generateSecret = (): string => randomBytes(32).toString("base64url");

// Without characters that are easily confused, because the password may be typed by hand.
const LEGIBLE = "abcdefghijkmnpqrstuvwxyz23456789";

/** A password of 100 random bits in groups of five. */
export function generatePassword(): string {
  const group = () => Array.from({ length: 5 }, () => LEGIBLE[randomInt(LEGIBLE.length)]).join("");
  return [group(), group(), group(), group()].join("-");
}
