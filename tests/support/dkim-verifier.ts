import { execFile, spawnSync } from "node:child_process";
import type { Ctx } from "#server/deps";
import { formatDkimRecord } from "#server/mail/dkim/key";
import { findDomain } from "#server/services/domains/read";
import { createDomain, declareDomainVerified } from "#server/services/domains/write";
import type { World } from "./world";

/** The interpreter for which Debian's packages are installed. */
const python = "/usr/bin/python3";

/** Reads JSON from standard input and returns which signatures of each message are valid. */
const SCRIPT = `
import base64, json, sys, dkim
given = json.load(sys.stdin)
zone = {name + ".": text.encode() for name, text in given["zone"].items()}
def ask(name, timeout=5):
    name = name.decode() if isinstance(name, bytes) else name
    return zone.get(name if name.endswith(".") else name + ".")
def holds(message, index):
    try:
        return dkim.DKIM(message).verify(idx=index, dnsfunc=ask)
    except dkim.DKIMException:
        return False
answers = []
for text in given["messages"]:
    message = base64.b64decode(text)
    head = message.split(b"\\r\\n\\r\\n", 1)[0].lower()
    count = (b"\\r\\n" + head).count(b"\\r\\ndkim-signature:")
    answers.append([holds(message, index) for index in range(count)])
json.dump(answers, sys.stdout)
`;

/** Whether Debian's python3-dkim is installed, with its dependency for Ed25519. */
export function hasDkimVerifier(): boolean {
  return spawnSync(python, ["-c", "import dkim, nacl"]).status === 0;
}

/**
 * Verifies messages with an independent library. Returns for each message which of its DKIM signatures, from
 * top to bottom, are valid. `zone` contains the TXT records by full name.
 */
export async function verifyDkim(
  messages: readonly Uint8Array[],
  zone: Record<string, string>,
): Promise<boolean[][]> {
  return new Promise((resolve, reject) => {
    const child = execFile(python, ["-c", SCRIPT], { maxBuffer: 1 << 24 }, (error, stdout) =>
      error ? reject(error) : resolve(JSON.parse(stdout)),
    );
    child.stdin?.end(
      JSON.stringify({
        zone,
        messages: messages.map((message) => Buffer.from(message).toString("base64")),
      }),
    );
  });
}

/** Adds a verified domain whose keys sign from now on. */
export async function addSignedDomain({ ctx, hot }: World, name: string): Promise<string> {
  const { id } = await createDomain(ctx, { name });
  await declareDomainVerified(ctx, name);
  await hot`update dkim_keys set signs_from = now() where domain_id = ${id}`;
  return id;
}

/** Verifies signatures by the records of a domain. Null, and a line on the output, without the library. */
export async function verifySigned(
  ctx: Ctx,
  name: string,
  messages: readonly Uint8Array[],
): Promise<boolean[][] | null> {
  if (!hasDkimVerifier()) {
    process.stdout.write("NOT RUN: python3-dkim is not on this machine; signatures are not verified.\n");
    return null;
  }
  const { dkimKeys } = await findDomain(ctx, name);
  const records = dkimKeys.map(({ selector, algorithm, publicKey }) => [
    `${selector}._domainkey.${name}`,
    formatDkimRecord(algorithm, publicKey),
  ]);
  return verifyDkim(messages, Object.fromEntries(records));
}
