import { cleanText } from "../../outcome";

/** A command and its reply; `reply` is null until it arrives. The final dot is the command ".". */
export type Exchange = { command: string; reply: string | null };

/** Maximum length of a stored dialogue, in characters. */
export const DIALOGUE_MAX = 8192;
const REPLY_MAX = 2000;

export type Transcript = ReturnType<typeof createTranscript>;

/**
 * The commands and replies of one connection: those of the setup from the client library's log, then ours.
 * Replies are matched to commands in order, also with pipelining (RFC 2920).
 */
export function createTranscript() {
  let setup: Exchange[] = [];
  let current: Exchange[] = [];
  let messages = 0;
  let inLogin = false;

  return {
    exchanges: (): readonly Exchange[] => current,
    /** The first command without a reply. */
    awaiting: () => current.find((exchange) => exchange.reply === null)?.command ?? null,
    /** Starts the section of the next message. */
    begin(): void {
      setup = messages === 0 ? current : [];
      current = [];
      messages += 1;
    },
    command(text: string): void {
      // All client lines from AUTH to its last reply contain credentials, in any mechanism.
      const isLogin = /^AUTH /i.test(text);
      const redacted = isLogin ? `${/^AUTH +[^ ]+/i.exec(text)?.[0] ?? "AUTH"} ***` : inLogin ? "***" : text;
      inLogin ||= isLogin;
      current.push({ command: redacted, reply: null });
    },
    reply(text: string): void {
      const truncated = text.slice(0, REPLY_MAX);
      if (inLogin && !truncated.startsWith("334")) inLogin = false;
      const open = current.find((exchange) => exchange.reply === null);
      if (open === undefined) current.push({ command: "", reply: truncated });
      else open.reply = truncated;
    },
    /**
     * Formats the dialogue of the current message as lines. For the first message it starts with the
     * connection setup. Other recipients are only counted.
     */
    dialogue: (recipient: string) => formatDialogue([...setup, ...current], recipient),
  };
}

function formatDialogue(exchanges: readonly Exchange[], recipient: string): string {
  const own = `RCPT TO:<${recipient}>`;
  const lines: string[] = [];
  let others = 0;
  for (const { command, reply } of exchanges) {
    if (command.startsWith("RCPT TO:") && !command.startsWith(own)) {
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
