import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";

// In a network namespace of its own the loopback interface starts switched off, and whoever made the namespace may switch it on.
const SWITCH_ON = [
  ["ip", "link", "set", "lo", "up"],
  ["ifconfig", "lo", "up"],
] as const;

/**
 * Makes sure that programs on this machine can reach each other at 127.0.0.1. True where the interface had to be
 * switched on. Throws where it is off and stays off.
 */
export async function ensureLoopback(): Promise<boolean> {
  if (await isReachable()) return false;
  for (const [command, ...args] of SWITCH_ON) {
    await run(command, args);
    if (await isReachable()) return true;
  }
  throw new Error(
    "The loopback interface of this network namespace is down, so nothing here can reach 127.0.0.1, neither the " +
      "database nor the console. Switch it on first: ip link set lo up",
  );
}

// Connecting a datagram socket sends nothing; it only asks the kernel for a route.
function isReachable(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket("udp4");
    const settle = (reachable: boolean) => () => {
      socket.close();
      resolve(reachable);
    };
    socket.once("error", settle(false));
    socket.once("connect", settle(true));
    socket.connect(9, "127.0.0.1");
  });
}

function run(command: string, args: readonly string[]): Promise<void> {
  const env = { NODE_ENV: process.env.NODE_ENV, PATH: `${process.env.PATH ?? ""}:/usr/sbin:/sbin` };
  return new Promise((resolve) => {
    const child = spawn(command, args, { env, stdio: "ignore" });
    child.once("error", () => resolve());
    child.once("close", () => resolve());
  });
}
