import { setTimeout as wait } from "node:timers/promises";
import nodemailer from "nodemailer";
import type { Direction } from "../../support/database/database-tap";
import type { Fault, FaultContext } from "../fault";
import { release } from "../kill-stages";
import type { Call } from "../records";

/** Maximum wait for the packet of the commit, after which the kill happens anyway. */
const patienceMs = 6_000;
const randomMsMax = 30;
const repetitionsMax = 400;

/**
 * A web process is killed after it has the message and before its 250: while the commit is on its way, while
 * the response of the database is, or at a random moment. A message without an idempotency key is not
 * repeated, so it exists if and only if its 250 was received, except where the client has no reply: there it
 * exists once or not at all, and a client that repeats it makes a copy. A message with a key is repeated
 * until its 250.
 */
export const killSubmission: Fault = {
  name: "kill-submission",
  row: "kill -9 between DATA and the 250 of an SMTP submission",
  place: "relay",
  times: { full: 40, short: 6 },
  isKill: true,
  async inject(context) {
    const { rig, load, random, row, times, isLate } = context;
    for (let n = 0; n < times; n++) {
      if (isLate()) return n;
      const web = n % 2 === 0 ? 0 : 1;
      const who = web === 0 ? "web0" : "web1";
      await rig.processes.isUp(who);
      const { call } = load.createCall();
      if (random.chance(0.5)) Object.assign(call, { key: null });
      const direction = random.pick<Direction | null>(["up", "down", null]);
      const held = direction && rig.taps[who].holdAt(direction, call.label);
      const first = submit(context, call, web);
      await Promise.race([held ?? wait(random.upTo(randomMsMax)), wait(patienceMs)]);
      await rig.disturb({ row, what: "kill", who }, async () => {
        await rig.processes.kill(who);
        release(rig);
      });
      let isAccepted = await first;
      for (let again = 1; call.key !== null && !isAccepted && again < repetitionsMax; again++) {
        await wait(50);
        isAccepted = await submit(context, call, web + again);
      }
    }
    return times;
  },
};

/**
 * Submits the email once and records the reply as the status of the API that it corresponds to. True for 250.
 */
async function submit({ rig }: FaultContext, call: Call, webIndex: number): Promise<boolean> {
  const web = webIndex % 2;
  const transport = nodemailer.createTransport({
    host: "127.0.0.1",
    port: rig.processes.smtpPorts[web === 0 ? 0 : 1],
    auth: { user: "backstamp", pass: rig.token },
    ignoreTLS: true,
  });
  const sentAtMs = Date.now();
  let status: number | null = null;
  let id: string | null = null;
  let wasRefused = false;
  try {
    const { response } = await transport.sendMail({
      from: `Chaos <chaos@${rig.domain}>`,
      to: call.recipients,
      subject: call.label,
      text: "Hello",
      ...(call.key === null ? {} : { headers: { "X-Backstamp-Idempotency-Key": call.key } }),
    });
    id = /Accepted as ([0-9a-f-]{36})/.exec(response)?.[1] ?? null;
    status = 200;
  } catch (error) {
    const { responseCode, code, syscall } = error as {
      responseCode?: number;
      code?: string;
      syscall?: string;
    };
    // 421 and 451 ask the client to repeat the message, like a 503.
    if (responseCode !== undefined) status = responseCode < 500 ? 503 : responseCode;
    wasRefused = syscall === "connect" || code === "ECONNREFUSED";
  } finally {
    transport.close();
  }
  call.tries.push({ web, sentAtMs, endedAtMs: Date.now(), status, id, wasRefused });
  return id !== null;
}
