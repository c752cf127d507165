import nodemailer, { type SendMailOptions } from "nodemailer";
import { openInbound } from "#server/startup/smtp/inbound";

const settings = { inboundPort: 0, host: "127.0.0.1", hostname: "mail.example.com" };

/** The listener for what comes back, opened as the service does, and a client of it. */
export async function startInbound(deps: Parameters<typeof openInbound>[1]) {
  const listener = await openInbound(settings, deps);
  if (!listener) throw new Error("the listener did not start");
  const { port, close } = listener;
  /** Sends a message; returns the response, also of a rejection. */
  async function send(message: SendMailOptions): Promise<string> {
    const client = nodemailer.createTransport({ host: "127.0.0.1", port, ignoreTLS: true });
    return client
      .sendMail(message)
      .catch((error: { response?: string }) => ({ response: error.response ?? String(error) }))
      .then(({ response }) => response)
      .finally(() => client.close());
  }
  return {
    close,
    send,
    /** Sends these bytes, by default from the null sender. */
    bring: (to: string, raw: Buffer, from = "") => send({ envelope: { from, to }, raw }),
  };
}

export type Inbound = Awaited<ReturnType<typeof startInbound>>;
