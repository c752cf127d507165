import { connect } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

/** Waits until a program listens on this loopback port. Rejects if it exits before, or after 10 s. */
export async function waitUntilListening(
  port: number,
  hasExited: () => boolean,
  host = "127.0.0.1",
): Promise<void> {
  for (let round = 0; round < 1_000; round += 1) {
    if (hasExited()) throw new Error(`The program for port ${port} has exited.`);
    if (await isListening(port, host)) return;
    await wait(10);
  }
  throw new Error(`Nothing listens on port ${port}.`);
}

const isListening = (port: number, host: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, host);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
