import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { TOPICS, type Topic } from "#server/services/live/changes";
import { appRouter } from "#server/trpc/router";
import { followChanges, QUERIES } from "../../app/console/_ui/live-connection";

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

test("the queries that are read at a change exist", () => {
  const live = TOPICS.flatMap((topic) => QUERIES[topic]);
  expect(live.filter((name) => !(name in appRouter._def.procedures))).toEqual([]);
});
