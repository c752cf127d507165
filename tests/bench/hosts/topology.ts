import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { statOf } from "../processor-time";

/**
 * A network namespace with one address on a bridge: what runs in it reaches the others as another machine
 * would.
 */
export type Host = {
  name: string;
  address: string;
  /** Precedes a command that runs there. */
  inside: string[];
  /** Processor time so far of what runs there, in ms by role. */
  readCpu(): Partial<Record<Role, number>>;
  /** Bytes so far to and from it. */
  readBytes(): number;
};

/** By the command line; the first that matches. */
const ROLES = {
  PostgreSQL: /postgres/,
  PgBouncer: /pgbouncer/,
  Redis: /redis-server/,
  worker: /worker/,
  web: /launch\.mjs/,
};
export type Role = keyof typeof ROLES;

const bridge = "backstamp-bench";
/** That of this process, where the clients and the receiving server are. */
export const ownAddress = "10.77.0.1";

const run = (...[command = "", ...args]: string[]) =>
  execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
const ip = (...args: string[]) => run("ip", ...args);

/** Creates the hosts; requires root and iproute2. They are deleted by `close`, or when this process ends. */
export function openHosts<Name extends string>(names: readonly Name[]) {
  const nameOf = (name: string) => `bench-${name}`;
  const close = () => {
    process.off("exit", close);
    for (const name of names)
      try {
        ip("netns", "delete", nameOf(name));
      } catch {}
    ip("link", "delete", bridge);
  };
  ip("link", "add", bridge, "type", "bridge");
  process.once("exit", close);
  ip("address", "add", `${ownAddress}/24`, "dev", bridge);
  ip("link", "set", bridge, "up");
  const hosts = names.map((name, index): [Name, Host] => {
    const link = `bs-${name}`;
    const address = `10.77.0.${index + 10}`;
    const inside = ["ip", "netns", "exec", nameOf(name)];
    ip("netns", "add", nameOf(name));
    ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", nameOf(name));
    ip("link", "set", link, "master", bridge, "up");
    run(...inside, "ip", "address", "add", `${address}/24`, "dev", "eth0");
    for (const device of ["lo", "eth0"]) run(...inside, "ip", "link", "set", device, "up");
    const counter = (way: string) =>
      Number(readFileSync(`/sys/class/net/${link}/statistics/${way}_bytes`, "utf8"));
    return [
      name,
      {
        name,
        address,
        inside,
        readCpu: () => readCpu(ip("netns", "pids", nameOf(name)).split("\n").filter(Boolean)),
        readBytes: () => counter("rx") + counter("tx"),
      },
    ];
  });
  return { hosts: Object.fromEntries(hosts) as Record<Name, Host>, close };
}

function readCpu(pids: string[]): Partial<Record<Role, number>> {
  const cpu: Partial<Record<Role, number>> = {};
  for (const pid of pids) {
    const stat = statOf(pid);
    const role = (Object.keys(ROLES) as Role[]).find((name) => ROLES[name].test(commandOf(pid)));
    // The time of connections that have ended is in that of the server, as theirs.
    if (stat && role) cpu[role] = (cpu[role] ?? 0) + (stat.own + stat.ofEnded) * 10;
  }
  return cpu;
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
