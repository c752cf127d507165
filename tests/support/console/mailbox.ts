import { deliverAll } from "../pump-engine";
import { transportTo } from "../relays";
import { startSmtpTestServer } from "../servers/smtp-test-server";
import type { Console } from "./console";

/**
 * Connects a console to a test server for outgoing email. Reading the mailbox delivers queued email first.
 */
export async function openMailbox(console: Console) {
  const peer = await startSmtpTestServer();
  const transport = transportTo(peer);
  console.deps.transportKind = "relay";
  const emailsTo = async (address: string): Promise<string[]> => {
    await deliverAll({ ...console.deps, transport });
    return peer.messages.filter(({ to }) => to.includes(address)).map(({ bytes }) => textOf(bytes));
  };
  return {
    emailsTo,
    /** The links in the emails to an address, oldest first. */
    linksTo: async (address: string): Promise<URL[]> =>
      (await emailsTo(address)).flatMap((text) => {
        const found = /^https?:\/\/\S+$/m.exec(text)?.[0];
        return found === undefined ? [] : [new URL(found)];
      }),
    close: async () => {
      await transport.close();
      await peer.close();
    },
  };
}

export type Mailbox = Awaited<ReturnType<typeof openMailbox>>;

/** A message without soft line breaks, decoded as far as these emails require. */
const textOf = (bytes: Buffer): string =>
  bytes.toString().replaceAll("=\r\n", "").replaceAll("=3D", "=").replaceAll("\r\n", "\n");

/** The fragment of a link, without the #. */
export const tokenOf = (link: URL | undefined): string => link?.hash.slice(1) ?? "";
