import { chmod, readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { createDkimKeyPair, DKIM_ALGORITHMS, parsePrivateKey } from "#server/mail/dkim/key";
import { signMessage } from "#server/mail/dkim/sign";
import { type Line, plainLine } from "../report";

export type Captured = { name: string; signatures: number; send(): Promise<void> };

const signings = 1_000;

/**
 * The messages that arrive, one of each side, with CRLF. Throws if one has not as many DKIM signatures as its
 * side claims.
 */
export async function captureEach(folder: string, sides: readonly Captured[]): Promise<string[]> {
  await chmod(folder, 0o777);
  const messages: string[] = [];
  const seen = new Set<string>();
  for (const { name, signatures, send } of sides) {
    await send();
    const [file, ...others] = (await readdir(folder)).filter((each) => !seen.has(each));
    if (file === undefined || others.length > 0) throw new Error(`${name} sent not one email.`);
    seen.add(file);
    const message = withoutTrace(await readFile(path.join(folder, file), "latin1"));
    const found = message.match(/^DKIM-Signature:/gim)?.length ?? 0;
    if (found !== signatures) throw new Error(`${name} sent ${found} signatures, not ${signatures}.`);
    messages.push(message);
  }
  return messages;
}

/** Without the fields that `smtp-sink` writes before the message, and its line after it. */
const withoutTrace = (dump: string): string =>
  dump
    .replace(/^(?:X-.*\n)*Received: .*\n(?:\t.*\n)*/, "")
    .replace(/\n$/, "")
    .replaceAll("\n", "\r\n");

export const withoutHeader = (message: string): string => message.slice(message.indexOf("\r\n\r\n") + 4);

/** The processor time of the signatures alone. */
export async function measureSigning(message: string): Promise<Line> {
  const keys = await Promise.all(
    DKIM_ALGORITHMS.map(async (algorithm) => ({
      algorithm,
      domain: "signed.example",
      selector: "bench",
      privateKey: parsePrivateKey((await createDkimKeyPair(algorithm)).privateKey, algorithm),
    })),
  );
  const bytes = Buffer.from(message, "latin1");
  const sign = async () => {
    for (let n = 0; n < signings; n++) await signMessage(bytes, keys, new Date());
  };
  await sign();
  const before = process.cpuUsage();
  await sign();
  const { user, system } = process.cpuUsage(before);
  const ms = (user + system) / 1_000 / signings;
  return plainLine(
    "processor time of the two signatures alone, RSA-2048 and Ed25519",
    `${ms.toFixed(2)} ms per email`,
  );
}
