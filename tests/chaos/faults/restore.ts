import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import postgres from "postgres";
import { installationSecret } from "../../support/deps";
import { type Child, startChild } from "../../support/processes/child";
import { runCommand } from "../../support/processes/command-line";
import { compiledOf } from "../../support/processes/program";
import { freePort } from "../../support/servers/free-port";
import type { Ask } from "../audit";
import type { Fault, FaultContext } from "../fault";
import { domainOf } from "../internet";

/**
 * What the operator of the restored installation does. "half" is the later half, by the time of acceptance.
 */
const DECISIONS = [["none"], ["half", "none"], ["all"]] as const;
type Decision = (typeof DECISIONS)[number][number];

/** Both workers stop for this time, so that the backup finds a queue. Less than their lease. */
const frozenMs = 8_000;
const queuedMin = 10;
const acceptedAfterBackup = 20;
const waitMaxMs = 60_000;

/**
 * A backup is made under load. Requests continue, and the original installation delivers what was queued. The
 * backup is restored into a second database, and its processes deliver to the same servers. Only what the
 * operator releases may be sent by both.
 */
export const backupRestored: Fault = {
  name: "restore",
  row: "backup restored into a second database while the original continues",
  place: "relay",
  times: { full: 3, short: 1 },
  load: { clients: 8, pauseMsMax: 300 },
  async inject(context) {
    for (let n = 0; n < context.times; n++) {
      if (n > 0 && context.isLate()) return n;
      const folder = await mkdtemp(path.join(tmpdir(), "backstamp-chaos-backup-"));
      try {
        await restoreOnce(context, folder, n);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    }
    return context.times;
  },
};

async function restoreOnce(context: FaultContext, folder: string, n: number): Promise<void> {
  const { rig, load } = context;
  const file = path.join(folder, "backup.tar.gz");
  const acceptedBefore = await backUpQueue(context, folder, file);
  const wanted = load.accepted() + acceptedAfterBackup;
  await until("20 emails after the backup", async () => load.accepted() >= wanted);

  const name = `restored_${n}_${Date.now()}`;
  await rig.ask((hot) => hot.unsafe(`create database ${name}`));
  const url = new URL(rig.postgres.url);
  url.pathname = `/${name}`;
  await backstamp(url.href, folder, ["restore", file]);
  const own = postgres(url.href, { max: 2, onnotice: () => {}, fetch_types: false });
  try {
    await runRestored(context, own, { url: url.href, folder, n, acceptedBefore });
  } finally {
    await own.end({ timeout: 5 });
    await rig.ask((hot) => hot.unsafe(`drop database ${name} with (force)`));
  }
}

/** Makes a backup while email is queued. Returns the ids of all emails that were accepted before it. */
async function backUpQueue(
  { rig, row, load }: FaultContext,
  folder: string,
  file: string,
): Promise<string[]> {
  const workers = ["worker0", "worker1"] as const;
  const frozen = workers.map((who) =>
    rig.disturb({ row, what: "freeze", who }, () => rig.processes.freeze(who, frozenMs)),
  );
  try {
    await until("a queue", async () => {
      const open = await rig.ask(
        (hot) => hot`select from deliveries where status = 'queued' limit ${queuedMin}`,
      );
      return open.length === queuedMin;
    });
    const accepted = load.calls.flatMap(({ tries }) => tries.flatMap(({ id }) => (id ? [id] : [])));
    await backstamp(rig.postgres.url, folder, ["backup", file]);
    return accepted;
  } finally {
    await Promise.all(frozen);
  }
}

type Restoration = { url: string; folder: string; n: number; acceptedBefore: string[] };

async function runRestored(
  context: FaultContext,
  own: Ask,
  { url, folder, n, acceptedBefore }: Restoration,
): Promise<void> {
  const { rig, row } = context;
  const kept = new Set((await own<{ id: string }[]>`select id from emails`).map(({ id }) => id));
  const lacking = acceptedBefore.filter((id) => !kept.has(id)).length;
  if (lacking > 0) rig.addFinding(row, `The backup lacks ${lacking} emails that were accepted before it.`);
  const held = await getHeldEmail(own);
  if (held.length < queuedMin) rig.addFinding(row, `Only ${held.length} deliveries are held.`);
  const decisions = DECISIONS[n % DECISIONS.length] ?? ["none"];
  const client = `restored${n}.chaos.example`;
  const restored = { client, held: held.map(({ address }) => address), own: [] as string[] };
  const record = { ...restored, decisions: [] as string[], released: [] as string[] };
  rig.restored.push(record);

  const port = await freePort();
  const env = { ...rig.envFor(url, client), PORT: String(port) };
  const children: Child<object>[] = [];
  try {
    const web = startChild<object>(await compiledOf("tests/support/processes/web-process.ts"), [], env);
    children.push(web);
    await web.waitFor((message): message is { port: number } => "port" in message);
    children.push(startChild<object>(await compiledOf("server/startup/worker-process.ts"), [], env));

    // New email is sent, so the worker runs, and it has claimed everything that was due.
    const sendOwn = async (what: string) => {
      const address = `${client}-${what}@${domainOf("ok")}`;
      record.own.push(address);
      await sendTo(port, rig.token, rig.domain, address);
      await until(`the email to ${address}`, async () => rig.sunk().some(({ to }) => to.includes(address)));
    };
    await sendOwn("before");
    for (const decision of decisions) {
      const { options, released } = choose(decision, await getHeldEmail(own));
      record.decisions.push(options.join(" "));
      record.released.push(...released);
      await backstamp(url, folder, ["release", ...options]);
      await until(`the end of what \`release ${options.join(" ")}\` released`, async () => {
        const open = await own`
          select from deliveries where status in ('queued', 'sending') and wait_rule is distinct from 'restored'`;
        return open.length === 0;
      });
    }
    await sendOwn("after");
    const left = (await getHeldEmail(own)).length;
    if (left > 0) rig.addFinding(row, `${left} deliveries are still held after ${record.decisions.join()}.`);
  } finally {
    await Promise.all(children.map((child) => child.stop()));
  }
}

type Held = { address: string; acceptedAt: Date };

const getHeldEmail = (own: Ask): Promise<Held[]> =>
  own<Held[]>`
    select d.address, e.created_at as "acceptedAt"
    from deliveries d join emails e on e.team_id = d.team_id and e.id = d.email_id
    where d.wait_rule = 'restored' order by e.created_at, e.id`;

function choose(decision: Decision, held: Held[]): { options: string[]; released: string[] } {
  if (decision === "none") return { options: ["--none"], released: [] };
  const middle = decision === "all" ? undefined : held[Math.floor(held.length / 2)]?.acceptedAt;
  const released = held.filter(({ acceptedAt }) => middle === undefined || acceptedAt >= middle);
  return {
    options: middle === undefined ? ["--all"] : ["--accepted-after", middle.toISOString()],
    released: released.map(({ address }) => address),
  };
}

async function sendTo(port: number, token: string, domain: string, to: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/api/emails`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ from: `chaos@${domain}`, to, subject: "New email", text: "Hello" }),
  });
  if (!response.ok) throw new Error(`The restored installation responded with ${response.status}.`);
}

/** A command of the operator of the installation with this database. */
async function backstamp(databaseUrl: string, folder: string, args: string[]): Promise<void> {
  const env = {
    DATABASE_URL: databaseUrl,
    BACKSTAMP_SECRET: installationSecret,
    BACKSTAMP_DATA_DIR: folder,
  };
  const { code, stderr } = await runCommand(args, { env });
  if (code !== 0) throw new Error(`${args[0]} ended with ${code}: ${stderr}`);
}

async function until(what: string, isDone: () => Promise<boolean>): Promise<void> {
  for (const untilMs = Date.now() + waitMaxMs; !(await isDone()); await wait(50))
    if (Date.now() > untilMs) throw new Error(`No result in ${waitMaxMs} ms: ${what}`);
}
