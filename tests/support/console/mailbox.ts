import { tick } from "#server/delivery/tick";
import { createRelay } from "#server/mail/transport/relay";
import { parseSmtpUrl } from "#server/mail/transport/smtp-url";
import { startSmtpTestServer } from "../servers/smtp-test-server";
import type { Console } from "./console";

/** Gives a console a way out that ends in a mailbox, and delivers what waits for it when it is asked. */
export async function openMailbox(console: Console) {
  const peer = await startSmtpTestServer();
  const target = parseSmtpUrl(`smtp://127.0.0.1:${peer.port}`);
  if (!target.ok) throw new Error(target.fault);
  const transport = createRelay(target.target);
  console.deps.transportKind = "relay";
  const mailsTo = async (address: string): Promise<string[]> => {
    await tick({ ...console.deps, transport }, { budgetMs: 20_000 });
    return peer.messages.filter(({ to }) => to.includes(address)).map(({ bytes }) => textOf(bytes));
  };
  return {
    mailsTo,
    /** The links in what came for an address, the newest last. */
    linksTo: async (address: string): Promise<URL[]> =>
      (await mailsTo(address)).flatMap((text) => {
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

/** A message with its soft line breaks taken out, as far as these mails need it. */
const textOf = (bytes: Buffer): string =>
  bytes.toString().replaceAll("=\r\n", "").replaceAll("=3D", "=").replaceAll("\r\n", "\n");

/** What stands behind the # of a link. */
export const tokenOf = (link: URL | undefined): string => link?.hash.slice(1) ?? "";
