import { lchown, open, rm, stat } from "node:fs/promises";
import { connect, createServer } from "node:net";
import path from "node:path";

/** A socket in a folder that accepts connections as long as its process lives. */
export type LifeSocket = { name: string; close(): Promise<void> };

/**
 * Opens a socket in the folder. Containers that share a volume cannot see each other's processes, and the
 * kernel closes the socket of a killed process, so a connection is the only reliable sign that the process
 * lives.
 */
export async function openLifeSocket(folder: string): Promise<LifeSocket> {
  const name = `lock-${process.pid}-${Math.random().toString(36).slice(2)}.socket`;
  const server = createServer((socket) => void socket.destroy()).unref();
  await inFolder(folder, name, (shortPath) => {
    return new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(shortPath, resolve);
    });
  });
  const { uid, gid } = await stat(folder);
  if (process.getuid?.() === 0) await lchown(path.join(folder, name), uid, gid);
  return {
    name,
    close: async () => {
      await new Promise((resolve) => server.close(resolve));
      await rm(path.join(folder, name), { force: true });
    },
  };
}

/** Whether the process that opened the socket lives. */
export async function isLifeSocketOpen(folder: string, name: string): Promise<boolean> {
  return inFolder(folder, path.basename(name), (shortPath) => {
    return new Promise<boolean>((resolve) => {
      const socket = connect(shortPath, () => {
        socket.destroy();
        resolve(true);
      }).once("error", () => resolve(false));
    });
  });
}

/**
 * The path of a socket has at most 107 bytes (unix(7)), so a long folder is reached through its descriptor.
 */
async function inFolder<T>(folder: string, name: string, use: (shortPath: string) => Promise<T>): Promise<T> {
  const handle = await open(folder, "r");
  try {
    return await use(`/proc/self/fd/${handle.fd}/${name}`);
  } finally {
    await handle.close();
  }
}
