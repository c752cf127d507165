import { medianOf, medianRatio, runAlternately } from "../measure";
import { comparedLine, type Line, perSecond } from "../report";
import { startChild } from "../start-child";
import type { Backstamp } from "./backstamp";
import type { PostfixRival } from "./postfix";
import { connectionsIn } from "./rival";
import type { SubmitCommands } from "./submit-child";
import { timedSide } from "./timed-side";

const emailsToWarmUp = 4_000;

/**
 * Accepting over SMTP without sending: the same client, message and connections, no TLS on either side.
 * Backstamp's client logs in once on each connection.
 */
export async function compareSubmission(compared: {
  backstamp: Backstamp;
  postfix: PostfixRival;
  message: string;
}): Promise<Line> {
  const { backstamp, postfix } = compared;
  const client = await startChild<SubmitCommands>("rivals/submit-child.ts");
  const message = `${compared.message.replaceAll(/^\./gm, "..")}.\r\n`;
  const submit = async (port: number, emails: number, token?: string) => {
    const connections = connectionsIn;
    return (await client.ask("submit", { port, token, connections, emails, message })).tookMs;
  };
  try {
    const rates = await runAlternately({
      backstamp: timedSide(emailsToWarmUp, async (emails) => {
        const tookMs = await submit(backstamp.submissionPort, emails, backstamp.token);
        await backstamp.discard();
        return tookMs;
      }),
      postfix: timedSide(emailsToWarmUp, async (emails) => {
        const tookMs = await submit(postfix.heldPort, emails);
        postfix.discard();
        return tookMs;
      }),
    });
    return comparedLine({
      what: `accept over SMTP, ${connectionsIn} connections`,
      measured: perSecond(medianOf(rates.backstamp), "emails"),
      floor: `${postfix.name}, \`smtpd\`: ${perSecond(medianOf(rates.postfix), "emails")}`,
      ratio: medianRatio(rates.backstamp, rates.postfix),
      budget: { atLeast: 1 },
    });
  } finally {
    await client.end();
  }
}
