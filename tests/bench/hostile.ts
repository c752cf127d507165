import { once, setMaxListeners } from "node:events";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import type { Ctx } from "#server/deps";
import { newId } from "#server/platform/ids";
import { silentLog } from "#server/platform/log";
import { createKey } from "#server/services/keys/keys";
import { createTeam } from "#server/services/teams";
import { createTemplate } from "#server/services/templates/write";
import { SCOPES } from "#server/shared/scopes";
import { buildDeps } from "#server/startup/deps";
import { startProcess } from "../support/processes/processes";
import { freePort } from "../support/servers/free-port";
import { BACKSTAMP_SECRET, type Place, settingsFor } from "./bench-database";
import { type HostileInput, hostileInputs } from "./hostile-inputs";
import { type Line, milliseconds } from "./report";
import { emailHtml } from "./sample-email";

const attackers = 2;
const attackMs = 8_000;
const quietMs = 8_000;
/** Between two emails of the other team. */
const pauseMs = 30;
const moreMsMax = 250;
const unlimited = 1_000_000_000;
const returnPathDomain = "bounces.bench.example";
const returnPaths = 20;

type Target = { url: string; smtpPort: number; inboundPort: number; token: string; recipients: string[] };

/**
 * The worst inputs of strangers and of one team, one kind after the other, while another team sends an email
 * at a time: how much longer this team waits.
 */
export async function measureHostile(place: Place): Promise<Line[]> {
  const product = await place.product();
  const database = await place.openDatabase();
  const [port, smtpPort, inboundPort] = [await freePort(), await freePort(), await freePort()];
  const env = {
    BACKSTAMP_SECRET,
    BACKSTAMP_ADMIN: "admin@backstamp.test:a password of the bench",
    BACKSTAMP_RETURN_PATH_DOMAIN: returnPathDomain,
    BACKSTAMP_INBOUND_PORT: String(inboundPort),
    BACKSTAMP_SMTP_PORT: `127.0.0.1:${smtpPort}`,
    BACKSTAMP_URL: `http://127.0.0.1:${port}`,
    PORT: String(port),
  };
  const { other, attacker, templateId, recipients } = await furnish(database.url, env);
  const launcher = await startProcess("npm", ["start"], {
    cwd: product.folder,
    env: { ...env, DATABASE_URL: database.url, HOST: "127.0.0.1" },
  });
  try {
    await launcher.waitFor(/Backstamp is running/);
    const url = `http://127.0.0.1:${port}/api`;
    const target = { url, smtpPort, inboundPort, token: attacker, recipients };
    const sendFor = (forMs: number) => p99OfTeam(url, other, forMs);
    await sendFor(quietMs);
    const lines: Line[] = [];
    for (const input of hostileInputs({ templateId })) {
      const quiet = await sendFor(quietMs / 2);
      const attack = startAttack(input, target);
      const attacked = await sendFor(attackMs);
      const { sent, reply } = await attack.stop();
      const more = attacked - quiet;
      lines.push({
        what: `another team's p99 beside ${input.what} (${sent} sent; ${reply})`,
        measured: milliseconds(attacked),
        floor: `quiet: ${milliseconds(quiet)}`,
        ratio: null,
        budget: `≤ ${moreMsMax} ms more`,
        isMet: more <= moreMsMax,
      });
      process.stderr.write(
        `${input.what}: ${Math.round(quiet)} → ${Math.round(attacked)} ms, ${sent} sent, ${reply}\n`,
      );
    }
    return lines;
  } finally {
    await launcher.killTree();
    await database.drop();
  }
}

async function furnish(databaseUrl: string, env: Record<string, string>) {
  const built = buildDeps(settingsFor(databaseUrl, env), { log: silentLog, connectionsMax: 2 });
  try {
    const open = async (name: string) => {
      const team = await createTeam(built.deps, { name });
      const ctx: Ctx = { ...built.deps, teamId: team.id, actor: { kind: "operator" }, requestId: "bench" };
      const limits = { "POST /api/emails": unlimited, "POST /api/templates": unlimited, other: unlimited };
      const { token } = await createKey(ctx, { name, scopes: [...SCOPES], domains: "all", limits });
      return { ctx, token };
    };
    const other = await open("Other");
    const attacker = await open("Attacker");
    const html = `{{#each a}}{{#each b}}${"x".repeat(980)}{{/each}}{{/each}}`;
    const content = { subject: "Hello", html, text: null, replyTo: null, sender: null, variables: null };
    const { id } = await createTemplate(attacker.ctx, { name: "Lists", alias: null, ...content });
    const recipients = Array.from(
      { length: returnPaths },
      () => `${built.deps.recipientTokens.returnPath(newId())}@${returnPathDomain}`,
    );
    return { other: other.token, attacker: attacker.token, templateId: id, recipients };
  } finally {
    await built.close();
  }
}

/** Sends one email after another, and returns the 99th percentile of their times in ms. */
async function p99OfTeam(url: string, token: string, forMs: number): Promise<number> {
  const email = {
    from: "hello@backstamp.test",
    to: "delivered@backstamp.test",
    subject: "Hello",
    html: emailHtml(1),
  };
  const times: number[] = [];
  for (const untilMs = performance.now() + forMs; performance.now() < untilMs; await wait(pauseMs)) {
    const startedMs = performance.now();
    const response = await fetch(`${url}/emails`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(email),
    });
    const answer = await response.text();
    if (response.status !== 200) throw new Error(`An email of the other team was rejected: ${answer}`);
    times.push(performance.now() - startedMs);
  }
  times.sort((a, b) => a - b);
  return times[Math.ceil(times.length * 0.99) - 1] ?? Number.NaN;
}

/** Sends the same input again and again over some connections, until it is stopped. */
function startAttack(input: HostileInput, target: Target) {
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  let sent = 0;
  let reply = "none was answered";
  const send = { rest: postOnce, submission: submitOnce, returns: returnOnce }[input.by];
  const attack = async () => {
    while (!stopping.signal.aborted)
      try {
        reply = (await send(input as never, target, stopping.signal)).slice(0, 100);
        sent++;
      } catch (error) {
        if (!stopping.signal.aborted) reply = String(error).slice(0, 100);
        await wait(10);
      }
  };
  const running = Array.from({ length: attackers }, attack);
  return {
    async stop() {
      stopping.abort();
      await Promise.all(running);
      return { sent, reply };
    },
  };
}

type Posted = Extract<HostileInput, { by: "rest" }>;
type Mailed = Extract<HostileInput, { by: "submission" | "returns" }>;

async function postOnce(
  { path, type, body }: Posted,
  { url, token }: Target,
  signal: AbortSignal,
): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, "content-type": type };
  const response = await fetch(url + path, { method: "POST", headers, body: new Uint8Array(body), signal });
  return `${response.status} ${await response.text()}`;
}

const submitOnce = ({ message }: Mailed, { smtpPort, token }: Target, signal: AbortSignal) =>
  mailOnce(smtpPort, signal, [
    "EHLO attacker.example",
    `AUTH PLAIN ${Buffer.from(`\0backstamp\0${token}`).toString("base64")}`,
    "MAIL FROM:<hello@backstamp.test>",
    "RCPT TO:<delivered@backstamp.test>",
    "DATA",
    message,
  ]);

const returnOnce = ({ message }: Mailed, { inboundPort, recipients }: Target, signal: AbortSignal) =>
  mailOnce(inboundPort, signal, [
    "EHLO attacker.example",
    "MAIL FROM:<>",
    ...recipients.map((recipient) => `RCPT TO:<${recipient}>`),
    "DATA",
    message,
  ]);

/** Sends commands and a message, each after the reply to the one before, and returns the last reply. */
async function mailOnce(
  port: number,
  signal: AbortSignal,
  commands: readonly (string | Buffer)[],
): Promise<string> {
  const socket: Socket = connect({ port, host: "127.0.0.1", signal } as never);
  await once(socket, "connect", { signal });
  try {
    const replies = createInterface({ input: socket })[Symbol.asyncIterator]();
    const reply = async () => {
      for (;;) {
        const { value, done } = await replies.next();
        if (done) throw new Error("the connection was closed");
        if (/^\d{3} /.test(value)) return String(value);
      }
    };
    let last = await reply();
    for (const command of commands) {
      socket.write(typeof command === "string" ? `${command}\r\n` : command);
      last = await reply();
      if (/^[45]/.test(last)) return last;
    }
    return last;
  } finally {
    socket.destroy();
  }
}
