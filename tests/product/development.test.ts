import { chmod, chown, mkdir, readFile, rm, stat } from "node:fs/promises";
import { connect, createServer } from "node:net";
import path from "node:path";
import { expect, test, vi } from "vitest";
import { freshDatabase } from "../support/database/postgres";
import {
  asUnprivileged,
  bannerOf,
  canUnshare,
  isRoot,
  type Launcher,
  mountedAt,
  paste,
  postmasterIn,
  startLauncher,
  submitOverSmtp,
} from "../support/processes/launcher";
import { isRunning, killLeftovers } from "../support/processes/processes";
import { listenOnLoopback } from "../support/servers/free-port";
import { holdDatabases } from "./held-databases";

const eventually = { timeout: 30_000, interval: 50 };

const held = holdDatabases();

/** Records the running processes, to check later that none of them remains. */
function remember(launcher: Launcher): number[] {
  const launcherPids = launcher.launcherPids();
  held.servers.push(...launcherPids);
  return launcherPids;
}

const lastEmail = (read: string) => (paste(read).data as { id: string; status: string }[])[0];

/**
 * A home directory of mode 0700 with a space in its path, if the machine permits mounting the project in it.
 */
async function closedHome(): Promise<{ prefix: string[]; dataDir: string }> {
  const home = path.join(held.folder, "home of root");
  await mkdir(path.join(home, "project"), { recursive: true });
  if (isRoot) await chmod(home, 0o700);
  return {
    prefix: canUnshare ? mountedAt(path.join(home, "project")) : [],
    dataDir: path.join(home, ".backstamp"),
  };
}

async function homeOf(dataDir: string): Promise<string> {
  const elsewhere = await readFile(path.join(dataDir, "postgres.location"), "utf8").catch(() => dataDir);
  return elsewhere.split("\n")[0] ?? dataDir;
}

test("one command starts everything, survives kills and double starts, and leaves no process behind", async () => {
  const { prefix, dataDir } = await closedHome();
  const first = await startLauncher({ dataDir, prefix });
  const banner = await bannerOf(first);
  const home = await homeOf(dataDir);
  try {
    // The banner's commands work when pasted.
    const { id } = paste(banner.send);
    await vi.waitFor(
      () => expect(lastEmail(banner.read)).toMatchObject({ id, status: "delivered" }),
      eventually,
    );
    submitOverSmtp(banner.smtp);
    await vi.waitFor(
      () =>
        expect(lastEmail(banner.read)).toMatchObject({
          subject: "First email over SMTP",
          status: "delivered",
        }),
      eventually,
    );
    expect(banner.text).toContain(`Console   ${first.url}`);
    const secrets = JSON.parse(await readFile(path.join(dataDir, "secrets.json"), "utf8"));
    expect((await stat(path.join(dataDir, "secrets.json"))).mode & 0o777).toBe(0o600);
    expect(banner.text).toContain(`Password  ${secrets.adminPassword}`);
    expect(Buffer.from(secrets.secret, "base64url")).toHaveLength(32);

    // A second start with the same data names the first process, which continues.
    const second = await startLauncher({ dataDir, by: "compiled" });
    expect(await second.exited).toMatchObject({ code: 1 });
    expect(second.stderr).toContain(`process ${first.pid} (dev) at ${first.url}`);
    // A start on the same port reports the port and what to do, and starts nothing.
    const neighbour = path.join(held.folder, "neighbour");
    const third = await startLauncher({ dataDir: neighbour, port: first.port, by: "compiled" });
    expect(await third.exited).toMatchObject({ code: 1 });
    expect(third.stderr).toContain(`Port ${first.port} on 127.0.0.1 is in use`);
    expect(third.stderr).toContain(`PORT=${first.port + 1} npm run dev`);
    await expect(stat(path.join(neighbour, "postgres"))).rejects.toMatchObject({ code: "ENOENT" });
    expect(paste(banner.send)).toHaveProperty("id");

    // The pages run in the same process, and requests wait until they are ready. `.ci/first-email` requests a
    // page, which takes the development server half a minute to compile.
    const icon = await fetch(`${first.url}/icon.svg`);
    expect(icon.status).toBe(200);
    expect(await icon.text()).toContain("<svg");

    // All processes are killed at once.
    const killed = remember(first);
    expect(killed).toContain(postmasterIn(path.join(home, "postgres")));
    await first.killTree();
    await vi.waitFor(() => expect(killed.filter(isRunning)).toEqual([]), eventually);
    const again = await startLauncher({ dataDir, by: "compiled" });
    const bannerAgain = await bannerOf(again);
    expect(bannerAgain.send.replaceAll(String(again.port), "")).toBe(
      banner.send.replaceAll(String(first.port), ""),
    );
    expect(paste(bannerAgain.read).data).toHaveLength(1);
    expect(bannerAgain.smtp).toMatch(/ smtp:\/\/127\.0\.0\.1:\d+ /);
    const { id: afterKill } = paste(bannerAgain.send);
    await vi.waitFor(
      () => expect(lastEmail(bannerAgain.read)).toMatchObject({ id: afterKill, status: "delivered" }),
      eventually,
    );

    // Only the launcher is killed. The next start cleans up its processes.
    remember(again);
    const orphan = postmasterIn(path.join(home, "postgres"));
    await again.kill();
    expect(isRunning(orphan)).toBe(true);
    const last = await startLauncher({ dataDir, prefix, by: "npm" });
    const lastBanner = await bannerOf(last);
    expect(isRunning(orphan)).toBe(false);
    expect(lastEmail(lastBanner.read)).toMatchObject({ id: afterKill });

    // A SIGTERM to npm only, which can exit without forwarding it.
    const launcherPids = remember(last);
    last.signal("SIGTERM");
    await last.exited;
    await vi.waitFor(() => expect(launcherPids.filter(isRunning)).toEqual([]), eventually);
    await expect(fetch(`${last.url}/api/health`)).rejects.toThrow();
  } finally {
    if (home !== dataDir) {
      killLeftovers();
      await vi
        .waitFor(
          () => expect(() => process.kill(postmasterIn(path.join(home, "postgres")), 0)).toThrow(),
          eventually,
        )
        .catch(() => process.kill(postmasterIn(path.join(home, "postgres")), "SIGKILL"));
      await rm(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    }
  }
}, 240_000);

test.runIf(canUnshare)(
  "the same command works for a regular user without a network",
  async () => {
    const project = path.join(held.folder, "project");
    const dataDir = path.join(held.folder, "data");
    await mkdir(project);
    await mkdir(dataDir);
    await chown(dataDir, 65_534, 65_534);
    const launcher = await startLauncher({
      dataDir,
      prefix: [
        "unshare",
        "-n",
        "sh",
        "-c",
        'ip link set lo up && exec "$0" "$@"',
        ...mountedAt(project),
        ...asUnprivileged,
      ],
      env: { HOME: dataDir },
    });
    const { send, read } = await bannerOf(launcher);
    const inside = (command: string) => paste(command, ["nsenter", `--net=/proc/${launcher.pid}/ns/net`]);
    const { id } = inside(send);
    await vi.waitFor(
      () => expect((inside(read).data as unknown[])[0]).toMatchObject({ id, status: "delivered" }),
      eventually,
    );
    const launcherPids = remember(launcher);
    expect(await stat(`/proc/${postmasterIn(path.join(dataDir, "postgres"))}`)).toMatchObject({
      uid: 65_534,
    });
    // Ctrl-C, which both the terminal and npm deliver.
    launcher.signal("SIGINT");
    launcher.signal("SIGINT");
    expect(await launcher.exited).toEqual({ code: 0, signal: null });
    expect(launcherPids.filter(isRunning)).toEqual([]);
  },
  120_000,
);

test("invalid settings are all reported by name before anything starts", async () => {
  const dataDir = path.join(held.folder, "data");
  const launcher = await startLauncher({
    dataDir,
    by: "compiled",
    env: { PORT: "http", SMTP_URL: "mail.example.com" },
  });
  expect(await launcher.exited).toMatchObject({ code: 1 });
  expect(launcher.stderr).toMatch(/PORT: "http" is not valid\. Enter a whole number[\s\S]*SMTP_URL: /);
  expect(launcher.stderr).not.toContain("    at ");
  await expect(stat(dataDir)).rejects.toMatchObject({ code: "ENOENT" });
});

test("with DATABASE_URL no database is started, and two launchers can share one", async () => {
  const database = await freshDatabase();
  try {
    const env = { DATABASE_URL: database.url };
    const launchers = await Promise.all(
      [1, 2].map(() => startLauncher({ dataDir: held.folder, by: "compiled", env })),
    );
    const banners = await Promise.all(launchers.map(bannerOf));
    const ids = banners.map(({ send }) => paste(send).id);
    const [{ read } = { read: "" }] = banners;
    const listed = (paste(read.replace("limit=1", "limit=5")).data as { id: string }[]).map(({ id }) => id);
    expect(listed.sort()).toEqual(ids.sort());
    await expect(stat(path.join(held.folder, "postgres"))).rejects.toMatchObject({ code: "ENOENT" });

    const [idle, stuck] = launchers;
    expect(await idle?.stop()).toEqual({ code: 0, signal: null });
    // A client that keeps sending delays the graceful stop, but a second signal ends the process.
    const slow = connect(stuck?.port ?? 0, "127.0.0.1").on("error", () => {});
    const [authorization] = /Authorization: Bearer [^"]+/.exec(read) ?? [];
    slow.write(
      `POST /api/emails HTTP/1.1\r\nHost: h\r\n${authorization}\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{`,
    );
    await fetch(`${stuck?.url}/api/health`);
    const secondSignal = setInterval(() => stuck?.signal("SIGTERM"), 100);
    expect(await stuck?.exited).toEqual({ code: 1, signal: null });
    clearInterval(secondSignal);
  } finally {
    await database.drop();
  }
}, 120_000);

test("the start waits for an unreachable database and logs it; a permanent error ends the start with the reason", async () => {
  const database = await freshDatabase();
  const away = createServer((socket) => socket.destroy());
  const port = await listenOnLoopback(away);
  try {
    const url = new URL(database.url);
    url.port = String(port);
    const startWith = (name: string) =>
      startLauncher({
        dataDir: path.join(held.folder, name),
        by: "compiled",
        env: { DATABASE_URL: url.href },
      });
    const waiting = await startWith("a");
    await waiting.waitFor(/database\.away/);
    expect((await fetch(`${waiting.url}/api/health`)).status).toBe(200);
    expect((await fetch(`${waiting.url}/api/health/ready`)).status).toBe(503);
    expect(await waiting.stop("SIGTERM")).toEqual({ code: 0, signal: null });

    url.port = new URL(database.url).port;
    url.password = "wrong";
    const refused = await startWith("b");
    expect(await refused.exited).toMatchObject({ code: 1 });
    expect(refused.stderr).toContain("The database rejected the password in DATABASE_URL.");
  } finally {
    away.close();
    await database.drop();
  }
}, 120_000);
