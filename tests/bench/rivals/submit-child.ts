import { connect } from "node:net";
import { answerParent } from "../child";

type Submitted = {
  port: number;
  /** An API key, for a server that requires a login. */
  token?: string;
  connections: number;
  emails: number;
  /** With CRLF and the final dot. */
  message: string;
};

/** Connects and logs in. Returns a function that sends a text and checks the code of the reply. */
async function openSession(port: number, token?: string) {
  const socket = connect(port, "127.0.0.1").setNoDelay(true).setEncoding("latin1");
  const expect = (code: string) =>
    new Promise<void>((resolve, reject) => {
      let reply = "";
      const read = (chunk: string) => {
        reply += chunk;
        // The last line of a reply has a space after its code.
        if (!/(?:^|\n)\d{3} [^\n]*\n$/.test(reply)) return;
        socket.off("data", read).off("error", reject);
        if (reply.startsWith(code)) resolve();
        else reject(new Error(`Port ${port} replied ${reply}`));
      };
      socket.on("data", read).once("error", reject);
    });
  const ask = (text: string, code: string) => {
    socket.write(text);
    return expect(code);
  };
  await expect("220");
  await ask("EHLO client.example\r\n", "250");
  const login = Buffer.from(`\0backstamp\0${token}`).toString("base64");
  if (token !== undefined) await ask(`AUTH PLAIN ${login}\r\n`, "235");
  return ask;
}

const commands = {
  /**
   * Sends a message again and again over open connections, each after the 250 of the one before. Returns how
   * long it took, without the logins, of which a server may limit those at once.
   */
  async submit({ port, token, connections, emails, message }: Submitted): Promise<{ tookMs: number }> {
    const sessions: Awaited<ReturnType<typeof openSession>>[] = [];
    while (sessions.length < connections) sessions.push(await openSession(port, token));
    let left = emails;
    const startedMs = performance.now();
    await Promise.all(
      sessions.map(async (ask) => {
        while (left-- > 0) {
          await ask("MAIL FROM:<ann@bench.example>\r\n", "250");
          await ask("RCPT TO:<reader@customers.example>\r\n", "250");
          await ask("DATA\r\n", "354");
          await ask(message, "250");
        }
      }),
    );
    const tookMs = performance.now() - startedMs;
    await Promise.all(sessions.map((ask) => ask("QUIT\r\n", "221")));
    return { tookMs };
  },
};
export type SubmitCommands = typeof commands;

answerParent(commands, async () => {});
