import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { TOPICS, type Topic } from "#server/services/live/changes";
import { appRouter } from "#server/trpc/router";
import { followChanges, QUERIES } from "../../app/console/_ui/live-connection";
import { projectRoot } from "../support/processes/processes";

describe("the queries of an open page", () => {
  /** The connection of the page. */
  let source: { onmessage?: (message: { data: string }) => void };
  let queries: QueryClient;
  let stop: () => void;
  beforeEach(() => {
    vi.stubGlobal(
      "EventSource",
      class {
        constructor() {
          source = this;
        }
        onmessage?: (message: { data: string }) => void;
        addEventListener() {}
        close() {}
      },
    );
    queries = new QueryClient();
    stop = followChanges("team", queries, () => {});
  });
  afterEach(() => {
    stop();
    queries.clear();
    vi.unstubAllGlobals();
  });

  const eventually = { timeout: 20_000, interval: 5 };
  const report = (...changed: Topic[]) =>
    source.onmessage?.({ data: JSON.stringify({ isLive: true, changed }) });

  const allRead = () => vi.waitFor(() => expect(queries.isFetching()).toBe(0), eventually);

  /** Displays a query. Its reads end when the test says so. */
  function display(name: string) {
    const ends: (() => void)[] = [];
    const queryFn = () => new Promise<null>((resolve) => ends.push(() => resolve(null)));
    const observer = new QueryObserver(queries, { queryKey: [name.split(".")], queryFn });
    observer.subscribe(() => {});
    return { ends, reads: (count: number) => vi.waitFor(() => expect(ends).toHaveLength(count), eventually) };
  }

  test("are read at each change, also the sums of the overview", async () => {
    const traffic = display("overview.traffic");
    for (let reads = 1; reads <= 4; reads++) {
      await traffic.reads(reads);
      traffic.ends[reads - 1]?.();
      await allRead();
      report("emails");
    }
  });

  test("do not wait for a slower query of the page", async () => {
    const [traffic, list] = [display("overview.traffic"), display("emails.list")];
    await Promise.all([traffic.reads(1), list.reads(1)]);
    for (const { ends } of [traffic, list]) ends[0]?.();
    await allRead();
    report("emails");
    await Promise.all([traffic.reads(2), list.reads(2)]);
    list.ends[1]?.();
    report("emails");
    await list.reads(3);
    expect(traffic.ends).toHaveLength(2);
  });

  test("are read once more after changes during a round", async () => {
    const list = display("emails.list");
    await list.reads(1);
    list.ends[0]?.();
    await allRead();
    for (let change = 0; change < 100; change++) report("emails");
    await list.reads(2);
    list.ends[1]?.();
    await list.reads(3);
    list.ends[2]?.();
    await allRead();
    expect(list.ends).toHaveLength(3);
  });
});

/** Queries that are not read again at a reported change, by reason. */
const EXCEPTIONS: Record<string, readonly string[]> = {
  "of the installation: reported changes are those of a team; pages with a state poll": [
    ...["alerts.list", "alerts.webhookSecret", "installation.deletions", "installation.destinations"],
    ...["installation.status", "installation.teams", "queues.status", "queues.waiting", "relays.list"],
    ...["service.pauses", "service.readiness"],
  ],
  "of the user, who changes them on this page": [
    ...["account.events", "account.sessions", "account.signInMethods", "profile.get", "savedFilters.list"],
  ],
  "poll, because no mark includes requests, rate limits, erasures and restores": [
    ...["activity.requests", "keys.gauges", "keys.rejections", "overview.held", "personalData.erasures"],
  ],
  "an editor or form, which keeps the user's input": ["team.deletion", "team.settings", "templates.get"],
  "choices and results of a form or dialog, read when it opens": [
    ...["activity.actors", "activity.keys", "domains.names", "domains.readName", "emails.choices"],
    ...["emails.countRetryable", "emails.suppressedRecipients", "keys.options", "keys.use"],
    ...["search.everything", "templates.use", "webhooks.countRange"],
  ],
  "never change": [
    ...["activity.request", "emails.asCall", "emails.content", "templates.version", "webhooks.snippets"],
  ],
};

test("each query of the console is read again at a reported change, or there is a reason", () => {
  const folder = path.join(projectRoot, "app/console");
  const sources = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => readFileSync(path.join(folder, name), "utf8"));
  const used = new Set(
    sources.flatMap((text) =>
      Array.from(text.matchAll(/\btrpc\.(\w+\.\w+)\.queryOptions\b/g), ([, name]) => name),
    ),
  );
  const live = new Set(TOPICS.flatMap((topic) => QUERIES[topic]));
  const excepted = Object.values(EXCEPTIONS).flat();
  expect([...live].filter((name) => excepted.includes(name))).toEqual([]);
  expect([...used].sort()).toEqual([...live, ...excepted].sort());
  const procedures = Object.keys(appRouter._def.procedures);
  expect([...live].filter((name) => !procedures.includes(name))).toEqual([]);
});
