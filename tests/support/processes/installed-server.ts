import { waitUntilListening } from "../servers/listening";

/** A server of another project, which was installed for one run. */
export type InstalledServer = {
  pid: number;
  version: string;
  hasExited(): boolean;
  output(): string;
  /** Where this machine sees a file that the server writes. */
  locate(file: string): string;
  /** Ends its processes and deletes its files. */
  close(): Promise<void>;
};

/**
 * Waits until it listens on this port of a loopback address. If it does not, it is closed, and the promise
 * rejects with the last line of its output.
 */
export async function waitForServer(
  { hasExited, output, close }: InstalledServer,
  port: number,
  host?: string,
): Promise<void> {
  await waitUntilListening(port, hasExited, host).catch(async (error) => {
    await close();
    throw new Error(`${error} ${output().trim().split("\n").at(-1)}`);
  });
}
