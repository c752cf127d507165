import { execFile } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { promisify } from "node:util";

// In a new network namespace the loopback interface is down. The owner of the namespace can bring it up.
const SWITCH_ON = [
  ["ip", "link", "set", "lo", "up"],
  ["ifconfig", "lo", "up"],
] as const;

/**
 * Ensures that programs on this machine can reach 127.0.0.1. True if the interface was down and is now up.
 * Throws if it cannot be brought up.
 */
export async function ensureLoopback(): Promise<boolean> {
  if (await isReachable()) return false;
  const env = { NODE_ENV: process.env.NODE_ENV, PATH: `${process.env.PATH ?? ""}:/usr/sbin:/sbin` };
  for (const [command, ...args] of SWITCH_ON) {
    await promisify(execFile)(command, args, { env }).catch(() => {});
    if (await isReachable()) return true;
  }
  throw new Error(
    "The loopback interface of this network namespace is down, so the database and the console are not reachable " +
      "at 127.0.0.1. Bring it up first: ip link set lo up",
  );
}

// Connecting a datagram socket sends no packet. The kernel only looks up a route.
async function isReachable(): Promise<boolean> {
  const socket = createSocket("udp4");
  socket.connect(9, "127.0.0.1");
  const isConnected = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.close();
  return isConnected;
}
