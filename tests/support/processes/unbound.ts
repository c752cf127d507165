import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onFreePort } from "./redis";

const unbound = "/usr/sbin/unbound";

/** Why no validating name server can be started here, or null if it can. */
export const unboundMissing: string | null = [
  [unbound, "-V"],
  ["ldns-signzone", "-v"],
].every(([program = "", option = ""]) => spawnSync(program, [option]).status === 0)
  ? null
  : "Unbound and the tools of ldns are not on this machine (Debian: apt-get install unbound ldnsutils)";

/**
 * The records of a zone as in a zone file. signed: by the key that Unbound trusts. bogus: by another key.
 * unsigned: Unbound knows that it has no DNSSEC. `forge` changes the zone after it is signed.
 */
export type ValidatedZone = {
  state: "signed" | "bogus" | "unsigned";
  records: readonly string[];
  forge?(zone: string): string;
};

/** Starts Unbound on all of these addresses, with these zones and no others. */
export async function startUnbound(
  addresses: readonly string[],
  zones: Record<string, ValidatedZone>,
): Promise<{ port: number; close(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "backstamp-unbound-"));
  const run = (program: string, ...args: string[]) =>
    execFileSync(program, args, { cwd: folder, stdio: ["ignore", "pipe", "ignore"] })
      .toString()
      .trim();
  const makeKey = (zone: string) => run("ldns-keygen", "-a", "ECDSAP256SHA256", "-k", zone);
  const settings: string[] = [];
  const parts: string[] = [];
  for (const [name, { state, records, forge = (zone: string) => zone }] of Object.entries(zones)) {
    const lines = [`$ORIGIN ${name}.`, "$TTL 60", "@ SOA ns hostmaster 1 3600 600 86400 60", "@ NS ns"];
    writeFileSync(join(folder, name), `${[...lines, ...records].join("\n")}\n`);
    if (state !== "unsigned") {
      const key = makeKey(name);
      settings.push(`trust-anchor-file: "${state === "signed" ? key : makeKey(name)}.ds"`);
      run("ldns-signzone", "-f", name, name, key);
      writeFileSync(join(folder, name), forge(readFileSync(join(folder, name), "utf8")));
    }
    parts.push(
      `auth-zone:\n name: "${name}."\n zonefile: "${name}"\n for-downstream: no\n fallback-enabled: no`,
    );
  }
  const { port, started: server } = await onFreePort((port) => {
    const server = [
      "verbosity: 1",
      "use-syslog: no",
      'logfile: ""',
      'chroot: ""',
      'username: ""',
      'pidfile: ""',
    ];
    const interfaces = addresses.map((address) => `interface: ${address}@${port}`);
    const own = [...server, `directory: "${folder}"`, ...interfaces, ...settings].join("\n ");
    const configuration = `server:\n ${own}\nremote-control:\n control-enable: no\n${parts.join("\n")}\n`;
    writeFileSync(join(folder, "unbound.conf"), configuration);
    return launch(join(folder, "unbound.conf"));
  });
  return {
    port,
    async close() {
      const exit = once(server, "exit");
      server.kill("SIGKILL");
      await exit;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function launch(configuration: string) {
  const server = spawn(unbound, ["-d", "-c", configuration], { stdio: ["ignore", "ignore", "pipe"] });
  const killOnExit = () => server.kill("SIGKILL");
  process.once("exit", killOnExit);
  server.once("exit", () => process.removeListener("exit", killOnExit));
  await new Promise<void>((resolve, reject) => {
    let output = "";
    server.stderr.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes("start of service")) resolve();
    });
    server.once("error", reject);
    server.once("exit", () => reject(new Error(`unbound ended: ${output}`)));
  });
  return server;
}
