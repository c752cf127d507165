import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const program = "/usr/bin/spamassassin";

/** Why messages cannot be scored here, or null if they can. */
export const spamAssassinMissing: string | null = existsSync(program)
  ? null
  : "spamassassin is not on this machine (Debian: apt-get install spamassassin)";

/**
 * Without the network (`-L`) and without learned data; prints the names of the rules, one line per message.
 */
const ARGUMENTS = [
  "-L",
  "-x",
  "--cf=use_bayes 0",
  "--cf=report_safe 0",
  "--cf=clear_headers",
  "--cf=fold_headers 0",
  "--cf=add_header all Rules _HEADER(X-Case)_=_TESTS(,)_",
];

/**
 * The rules of Debian's SpamAssassin that match each message, in alphabetical order. Each message is scored
 * as if it was received from another server.
 */
export async function rulesHit(messages: readonly Uint8Array[]): Promise<string[][]> {
  const folder = mkdtempSync(join(tmpdir(), "backstamp-spamassassin-"));
  try {
    const files = messages.map((message, nth) => {
      const date = /^Date: (.*)\r$/m.exec(Buffer.from(message).toString("latin1"))?.[1] ?? "";
      const head = [
        `X-Case: ${nth}`,
        "Received: from mail.example.com (mail.example.com [93.184.216.34])",
        `\tby mx.example.net with ESMTPS id 4F2A31; ${date}`,
      ];
      const file = join(folder, `${nth}.eml`);
      writeFileSync(file, Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n`), message]));
      return file;
    });
    const output = await run([...ARGUMENTS, ...files], folder);
    const found = new Map(
      [...output.matchAll(/^X-Spam-Rules: (\d+)\s*=(.*?)\r?$/gm)].map(([, nth, rules]) => [
        Number(nth),
        rules,
      ]),
    );
    return messages.map((_, nth) => {
      const rules = found.get(nth);
      if (rules === undefined) throw new Error(`SpamAssassin said nothing of message ${nth}`);
      return rules === "none" ? [] : rules.split(",").sort();
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(args: string[], home: string): Promise<string> {
  const env = { PATH: "/usr/sbin:/usr/bin:/bin", HOME: home, LC_ALL: "C" } as unknown as NodeJS.ProcessEnv;
  return new Promise((resolve, reject) => {
    execFile(program, args, { env, maxBuffer: 1 << 26, encoding: "latin1" }, (error, stdout, stderr) =>
      error ? reject(new Error(`${error.message}\n${stderr}`)) : resolve(stdout),
    );
  });
}
