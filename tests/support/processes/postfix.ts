import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../servers/free-port";
import { waitUntilListening } from "../servers/listening";

const daemons = "/usr/lib/postfix/sbin";
const unprivilegedUid = 65_534;

/** Why Postfix cannot run here, or null if it can. */
export const postfixMissing: string | null = !existsSync(`${daemons}/master`)
  ? "Postfix is not on this machine (Debian: apt-get install postfix)"
  : process.getuid?.() === 0
    ? null
    : "Postfix starts for root only";

/** The domain of the local mailboxes. */
export const mailboxDomain = "mailbox.example";

export type PostfixOptions = {
  /** Names of the mailboxes. Email to any other name is accepted and bounces later. */
  mailboxes: string[];
  /** Names in the same domain that forward to other addresses. */
  aliases?: Record<string, string[]>;
  /** Loopback ports that receive the email of other domains. */
  routes: Record<string, number>;
  /** Lines of its main.cf, which replace those of the same names. */
  settings?: string[];
  /** Additional lines of its master.cf. */
  services?: string[];
};

export type Postfix = {
  host: string;
  port: number;
  /** Of the process that starts all others. */
  pid: number;
  /** The folder of its queue. */
  queue: string;
  /** Runs one of its programs on this queue, such as `postqueue -f`. Throws if the program fails. */
  run(program: string, ...args: string[]): void;
  /** The messages in a mailbox, each as the file that Postfix wrote, with bare line feeds. */
  mailbox(name: string): Buffer[];
  log(): string;
  close(): Promise<void>;
};

/**
 * Starts a separate Postfix on a free loopback port. Its configuration, queue and mailboxes are in a folder
 * that is deleted on close.
 */
export async function startPostfix(options: PostfixOptions): Promise<Postfix> {
  const folder = mkdtempSync(join(tmpdir(), "backstamp-postfix-"));
  // Its daemons run as other users.
  chmodSync(folder, 0o755);
  for (const name of ["queue", "mail"]) mkdirSync(join(folder, name));
  chownSync(join(folder, "mail"), unprivilegedUid, unprivilegedUid);
  const port = await freePort();
  const write = (name: string, lines: string[]) => writeFileSync(join(folder, name), `${lines.join("\n")}\n`);
  write("main.cf", withSettings(mainCf(folder), options.settings ?? []));
  write("master.cf", [...masterCf(port), ...(options.services ?? [])]);
  write(
    "mailboxes",
    options.mailboxes.map((name) => `${name}@${mailboxDomain} ${name}/`),
  );
  write(
    "aliases",
    Object.entries(options.aliases ?? {}).map(([name, to]) => `${name}@${mailboxDomain} ${to.join(", ")}`),
  );
  write(
    "routes",
    Object.entries(options.routes).map(([domain, to]) => `${domain} smtp:[127.0.0.1]:${to}`),
  );
  const log = () => (existsSync(join(folder, "log")) ? readFileSync(join(folder, "log"), "utf8") : "");

  // Creates the folders of the queue with their owners.
  const check = spawnSync("/usr/sbin/postfix", ["-c", folder, "check"], { encoding: "utf8" });
  if (check.status !== 0) throw new Error(`Postfix refuses its configuration: ${check.stderr}${log()}`);
  const env = { PATH: process.env.PATH, MAIL_CONFIG: folder } as unknown as NodeJS.ProcessEnv;
  // A separate process group, so that all processes end together.
  const master = spawn(join(daemons, "master"), ["-s", "-c", folder], {
    env,
    detached: true,
    stdio: "ignore",
  });
  const killAll = () => {
    if (master.pid !== undefined && master.exitCode === null) process.kill(-master.pid, "SIGKILL");
  };
  process.once("exit", killAll);
  await waitUntilListening(port, () => master.exitCode !== null).catch((error) => {
    throw new Error(`Postfix: ${error}\n${log()}`);
  });
  return {
    host: "127.0.0.1",
    port,
    pid: master.pid ?? 0,
    queue: join(folder, "queue"),
    run(program, ...args) {
      const { status, stderr } = spawnSync(`/usr/sbin/${program}`, ["-c", folder, ...args], {
        encoding: "utf8",
      });
      if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed: ${stderr}`);
    },
    mailbox(name) {
      const place = join(folder, "mail", name, "new");
      return existsSync(place) ? readdirSync(place).map((file) => readFileSync(join(place, file))) : [];
    },
    log,
    async close() {
      const exit = once(master, "exit");
      killAll();
      await exit;
      process.removeListener("exit", killAll);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const mainCf = (folder: string): string[] => [
  "compatibility_level = 3.6",
  `queue_directory = ${folder}/queue`,
  `data_directory = ${folder}/data`,
  `maillog_file = ${folder}/log`,
  `maillog_file_prefixes = ${folder}`,
  "myhostname = mx.example.net",
  "inet_interfaces = 127.0.0.1",
  "inet_protocols = ipv4",
  "mydestination =",
  "mynetworks = 127.0.0.0/8",
  "alias_maps =",
  "alias_database =",
  "notify_classes =",
  "smtp_dns_support_level = disabled",
  "smtp_tls_security_level = none",
  "smtpd_peername_lookup = no",
  "smtpd_relay_restrictions = permit_mynetworks, reject",
  // Email to an unknown name is accepted, so that Postfix has to return it.
  "smtpd_reject_unlisted_recipient = no",
  `virtual_mailbox_domains = ${mailboxDomain}`,
  `virtual_mailbox_base = ${folder}/mail`,
  `virtual_mailbox_maps = texthash:${folder}/mailboxes`,
  `virtual_alias_maps = texthash:${folder}/aliases`,
  `virtual_uid_maps = static:${unprivilegedUid}`,
  `virtual_gid_maps = static:${unprivilegedUid}`,
  `transport_maps = texthash:${folder}/routes`,
  // A retry within the time in which a delivery ends is postponed by five minutes.
  "minimal_backoff_time = 3s",
  "maximal_backoff_time = 3s",
  "queue_run_delay = 1s",
];

/** Postfix warns of a name that is set twice. */
const withSettings = (lines: string[], settings: string[]): string[] => {
  const nameOf = (line: string) => line.split(" ")[0];
  const names = settings.map(nameOf);
  return [...lines.filter((line) => !names.includes(nameOf(line))), ...settings];
};

/** All delivery services, without a chroot. */
const masterCf = (port: number): string[] => [
  `127.0.0.1:${port} inet n - n - - smtpd`,
  "pickup unix n - n 60 1 pickup",
  "cleanup unix n - n - 0 cleanup",
  "qmgr unix n - n 300 1 qmgr",
  "rewrite unix - - n - - trivial-rewrite",
  "bounce unix - - n - 0 bounce",
  "defer unix - - n - 0 bounce",
  "trace unix - - n - 0 bounce",
  "verify unix - - n - 1 verify",
  "flush unix n - n 1000? 0 flush",
  "proxymap unix - - n - - proxymap",
  "smtp unix - - n - - smtp",
  "relay unix - - n - - smtp",
  "showq unix n - n - - showq",
  "error unix - - n - - error",
  "retry unix - - n - - error",
  "discard unix - - n - - discard",
  "local unix - n n - - local",
  "virtual unix - n n - - virtual",
  "anvil unix - - n - 1 anvil",
  "scache unix - - n - 1 scache",
  "postlog unix-dgram n - n - 1 postlogd",
];
