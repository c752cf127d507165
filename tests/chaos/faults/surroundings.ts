import { execFileSync } from "node:child_process";
import { mkdtempSync, rmdirSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { redisMissing } from "../../support/processes/redis";
import type { Fault } from "../fault";

/** The store of the rate limits hangs, dies, restarts empty, or is slow. Sending continues. */
export const redis: Fault = {
  name: "redis",
  row: "Redis down or slow",
  place: "relay",
  times: { full: 12, short: 3 },
  unable: () => redisMissing,
  async inject({ rig, row, random, times, isLate }) {
    const { redis: store } = rig;
    if (!store) return 0;
    for (let n = 0; n < times; n++) {
      if (isLate()) return n;
      await rig.disturb({ row, what: "freeze", who: "redis" }, async () => {
        if (n % 3 === 0) store.freeze();
        else if (n % 3 === 1) await store.kill();
        else await store.client.call("CLIENT", "PAUSE", "1500", "ALL").catch(() => {});
        await wait(1_000 + random.upTo(1_500));
        for (const baseUrl of rig.processes.baseUrls) {
          const headers = { authorization: `Bearer ${rig.token}` };
          const answer = await fetch(`${baseUrl}/api/emails?limit=1`, { headers });
          const limit = Number(answer.headers.get("x-ratelimit-limit"));
          if (!answer.ok || !(limit > 0))
            rig.addFinding(row, `GET /api/emails: ${answer.status}, X-RateLimit-Limit ${limit}`);
        }
        if (n % 3 === 0) store.thaw();
        if (n % 3 === 1) await store.restart();
      });
    }
    return times;
  },
};

const hourMs = 3_600_000;
/** More than twice the largest clock error. */
export const scheduledAheadMs = 3 * hourMs;

/**
 * Processes whose clocks are an hour ahead or behind. The database's clock is correct, and scheduled email
 * follows it.
 */
export const clockSkew: Fault = {
  name: "clock-skew",
  row: "clock skew ±1 h",
  place: "relay",
  times: { full: 4, short: 0 },
  load: { scheduledAheadMs },
  async inject({ rig, load, row, times }) {
    const ahead = { web0: hourMs, web1: -hourMs, worker0: -hourMs, worker1: hourMs } as const;
    const processNames = Object.keys(ahead) as (keyof typeof ahead)[];
    const setClocks = async (isSkewed: boolean) => {
      await Promise.all(
        processNames.map((who) =>
          rig.disturb({ row, what: "kill", who }, async () => {
            await rig.processes.kill(who, { staysDown: true });
            await rig.processes.start(who, isSkewed ? { clockAheadMs: ahead[who] } : {});
          }),
        ),
      );
    };
    /** Email that was scheduled hours ahead because of the clocks becomes due as intended. */
    const advanceDueTimes = () =>
      rig.ask(
        (hot) => hot`
          update deliveries set due_at = due_at - ${scheduledAheadMs} * interval '1 ms'
          where status = 'scheduled' and due_at > now() + interval '1 hour'`,
      );
    await setClocks(true);
    for (let n = 0; n < times * 10; n++) {
      await wait(200);
      await advanceDueTimes();
    }
    await load.stop();
    const late = () => rig.ask((hot) => hot`select 1 from deliveries where status = 'scheduled'`);
    for (
      const untilMs = Date.now() + 30_000;
      Date.now() < untilMs && (await late()).length > 0;
      await wait(200)
    )
      await advanceDueTimes();
    await setClocks(false);
    return times;
  },
};

const diskMb = 256;

/** A small disk in memory, or why it is not possible. `end` removes it. */
export function mountDisk(): { folder: string; end(): void } | { reason: string } {
  const folder = mkdtempSync(path.join(tmpdir(), "backstamp-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${diskMb}m,mode=755`, "tmpfs", folder], {
      stdio: "pipe",
    });
  } catch (error) {
    rmdirSync(folder);
    return {
      reason: `no small disk can be mounted here: ${error instanceof Error ? error.message.trim() : error}`,
    };
  }
  return {
    folder,
    end() {
      execFileSync("umount", [folder], { stdio: "pipe" });
      rmdirSync(folder);
    },
  };
}

const fullMs = 5_000;
/** Until an insert has used the space that PostgreSQL had left. */
const refusedMsMax = 60_000;
const pieceBytes = 1024 * 1024;

/** No byte is left: inserts fail, and PostgreSQL stops when its log cannot grow. */
export const diskFull: Fault = {
  name: "disk-full",
  row: "disk full",
  place: "disk",
  times: { full: 5, short: 1 },
  unable() {
    const disk = mountDisk();
    if ("reason" in disk) return disk.reason;
    disk.end();
    return null;
  },
  async inject({ rig, load, row, random, times, isLate }) {
    const ballast = path.join(rig.dataDir, "ballast");
    for (let n = 0; n < times; n++) {
      if (isLate()) return n;
      await wait(random.upTo(1_500));
      await rig.disturb({ row, what: "full", who: "postgres" }, async () => {
        const fromMs = Date.now();
        await fill(ballast);
        await wait(fullMs);
        const wasRefused = () =>
          load.calls.some(({ tries }) =>
            tries.some(({ sentAtMs, status }) => sentAtMs > fromMs && status === 503),
          );
        const untilMs = fromMs + refusedMsMax;
        while (!wasRefused() && Date.now() < untilMs) await wait(100);
        if (!wasRefused()) rig.addFinding(row, "no request was rejected for the full disk");
        await rm(ballast, { force: true });
        await rig.ask((hot) => hot`select 1`);
      });
      await wait(2_000);
    }
    return times;
  },
};

/** Fills the rest of the disk, and what becomes free in the next moments. */
async function fill(file: string): Promise<void> {
  const handle = await open(file, "a");
  let piece = Buffer.alloc(pieceBytes, 1);
  try {
    while (piece.length > 512) {
      try {
        await handle.write(piece);
      } catch {
        piece = piece.subarray(0, piece.length / 2);
      }
    }
  } finally {
    await handle.close();
  }
}
