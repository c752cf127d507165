import { execFile } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { tick } from "#server/delivery/tick";
import { LIMIT_PER_MINUTE, type Tier } from "#server/shared/rate-limits";
import { projectRoot } from "./processes/processes";
import { createWorld } from "./world";

export type TargetKey = {
  scopes: string[];
  /** Default: only the built-in domain. */
  domains?: string[];
  expiresAt?: Date;
  /** Classes without a value have the default limit. */
  limits?: Partial<Record<Tier, number>>;
};

/** A Backstamp under test, accessed only through its URL and the operator's CLI. */
export type Target = {
  /** Without `/api`. */
  baseUrl: string;
  mintKey(key: TargetKey): Promise<{ id: string; token: string }>;
  /** Adds a domain and sets it to verified. */
  addDomain(name: string): Promise<void>;
  /** Advances the clock of the rate limits by that many seconds. */
  pass(seconds: number): Promise<void>;
  /** The target's current time in milliseconds since the epoch. */
  nowMs(): number;
  /** Delivers due email if the target has no worker. */
  deliver(): Promise<void>;
  close(): Promise<void>;
};

/**
 * The target of the interface tests: `BACKSTAMP_TEST_URL`, a running product whose CLI works from here, or by
 * default a world inside this process.
 */
export async function openTarget(): Promise<Target> {
  const url = process.env.BACKSTAMP_TEST_URL;
  return url ? openRunning(url.replace(/\/+$/, "")) : openInProcess();
}

async function openInProcess(): Promise<Target> {
  const world = await createWorld();
  return {
    baseUrl: world.baseUrl,
    mintKey: ({ scopes, domains = ["backstamp.test"], expiresAt, limits }) =>
      world.key({
        scopes,
        domains,
        ...(expiresAt && { expiresAt }),
        limits: limits ? { ...LIMIT_PER_MINUTE, ...limits } : "usual",
      }),
    addDomain: async (name) => void (await world.domain(name)),
    pass: async (seconds) => world.clock.advance(seconds * 1000),
    nowMs: () => world.clock.now().getTime(),
    deliver: () => tick({ ...world.deps, transport: null }, { budgetMs: 10_000 }),
    close: () => world.close(),
  };
}

function openRunning(baseUrl: string): Target {
  const run = promisify(execFile);
  const backstamp = async (...args: string[]): Promise<string> => {
    const { stdout } = await run("npm", ["run", "-s", "backstamp", "--", ...args], { cwd: projectRoot });
    return stdout;
  };
  return {
    baseUrl,
    mintKey: async ({ scopes, domains = ["backstamp.test"], expiresAt, limits = {} }) => {
      const flags = [
        "--name",
        "Interface suite",
        "--scopes",
        scopes.join(),
        "--domains",
        domains.join(),
        "--json",
      ];
      if (expiresAt) flags.push("--expires", expiresAt.toISOString());
      for (const [tier, limit] of Object.entries(limits)) flags.push("--limit", `${tier}=${limit}`);
      return JSON.parse(await backstamp("key", "create", ...flags)) as { id: string; token: string };
    },
    addDomain: async (name) => void (await backstamp("domain", "add", name, "--verified")),
    pass: async (seconds) => void (await wait(seconds * 1000)),
    nowMs: () => Date.now(),
    deliver: async () => {},
    close: async () => {},
  };
}
