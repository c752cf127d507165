import { cleanText } from "../outcome";

/** A command and its reply, both as one text; `reply` is null while none has come. The final dot is the command ".". */
export type Exchange = { command: string; reply: string | null };

/** Most of a conversation that is kept, in characters. */
export const DIALOGUE_MAX = 8192;
const REPLY_MAX = 2000;

/**
 * What was said on one connection, as the client logs it. Replies are matched to commands in order, which holds with
 * pipelining (RFC 2920) too. `begin` starts the part of the next message.
 */
export type Transcript = {
  exchanges(): readonly Exchange[];
  /** The first command whose reply has not come. */
  awaiting(): string | null;
  begin(): void;
  command(text: string): void;
  reply(text: string): void;
  /**
   * The conversation about the current message as lines, after the connection's opening where it is the first message.
   * Other recipients than the given one are only counted.
   */
  dialogue(recipient: string): string;
};

export function createTranscript(): Transcript {
  let setup: Exchange[] = [];
  let current: Exchange[] = [];
  let messages = 0;
  let inLogin = false;

  return {
    exchanges: () => current,
    awaiting: () => current.find((exchange) => exchange.reply === null)?.command ?? null,
    begin() {
      setup = messages === 0 ? current : [];
      current = [];
      messages += 1;
    },
    command(text) {
      // Whatever follows AUTH until its last reply is credentials, in whatever form the mechanism has.
      const isLogin = /^AUTH /i.test(text);
      const shown = isLogin ? `${/^AUTH +[^ ]+/i.exec(text)?.[0] ?? "AUTH"} ***` : inLogin ? "***" : text;
      inLogin ||= isLogin;
      current.push({ command: shown, reply: null });
    },
    reply(text) {
      const kept = text.slice(0, REPLY_MAX);
      if (inLogin && !kept.startsWith("334")) inLogin = false;
      const open = current.find((exchange) => exchange.reply === null);
      if (open === undefined) current.push({ command: "", reply: kept });
      else open.reply = kept;
    },
    dialogue: (recipient) => writeDialogue([...setup, ...current], recipient),
  };
}

function writeDialogue(exchanges: readonly Exchange[], recipient: string): string {
  const lines: string[] = [];
  let others = 0;
  for (const { command, reply } of exchanges) {
    if (command.startsWith("RCPT TO:") && !command.startsWith(`RCPT TO:<${recipient}>`)) {
      others += 1;
      continue;
    }
    if (command !== "") lines.push(`> ${cleanText(command)}`);
    if (reply !== null) lines.push(...reply.split(/\r?\n/).map((line) => `< ${cleanText(line)}`));
  }
  if (others > 0) lines.push(`* ${others} other recipient${others === 1 ? "" : "s"} in this transaction`);
  const text = lines.join("\n");
  return text.length <= DIALOGUE_MAX ? text : `${text.slice(0, DIALOGUE_MAX - 2).replace(/\p{Cs}$/u, "")}\n…`;
}
