import { createServer } from "node:net";
import { answerParent } from "../child";
import { press } from "../load";
import { acceptTarget } from "../sample-email";
import { converse } from "../sink";
import { ownAddress } from "./topology";

/** Messages by the address of the worker that sent them. */
const received = new Map<string, number>();
let onMessage = () => {};

const sink = createServer((socket) => {
  const from = socket.remoteAddress ?? "";
  converse(socket, () => {
    received.set(from, (received.get(from) ?? 0) + 1);
    onMessage();
  });
});

const targetAt = (url: string, token: string) => ({ ...acceptTarget(0, token), url: `${url}/api/emails` });

const commands = {
  listen: () => new Promise<void>((resolve) => sink.listen(2_525, ownAddress, () => resolve())),
  received: () => Object.fromEntries(received),
  /** Sends to all web processes at once; the emails that each has accepted. */
  press: ({ urls, token, connections, seconds }: Press) =>
    Promise.all(
      urls.map(async (url) => {
        const load = { ...targetAt(url, token), connections: connections / urls.length, seconds };
        return (await press(load)).perSecond * seconds;
      }),
    ),
  /** The times in ms from a request to the arrival of its email, one after the other, in order. */
  async arrive({ url, token, count }: { url: string; token: string; count: number }) {
    const times: number[] = [];
    const { url: to, ...given } = targetAt(url, token);
    for (let n = 0; n < count; n++) {
      const startedMs = performance.now();
      const arrived = new Promise<void>((resolve) => {
        onMessage = resolve;
      });
      await fetch(to, { method: "POST", ...given });
      await arrived;
      times.push(performance.now() - startedMs);
    }
    return times.sort((a, b) => a - b);
  },
  /** Lists emails; the median time in ms. */
  async list({ url, token, query, count }: { url: string; token: string; query: string; count: number }) {
    const times: number[] = [];
    for (let n = 0; n < count; n++) {
      const startedMs = performance.now();
      const response = await fetch(`${url}/api/emails?${query}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      if (response.status !== 200) throw new Error(await response.text());
      await response.text();
      times.push(performance.now() - startedMs);
    }
    return times.sort((a, b) => a - b)[count >> 1] ?? 0;
  },
  /** Sends over all web processes in turn; the number of calls that the shared limit let through. */
  async limited({ urls, token, count }: { urls: string[]; token: string; count: number }) {
    let accepted = 0;
    for (let n = 0; n < count; n++) {
      const { url, ...given } = targetAt(urls[n % urls.length] ?? "", token);
      if ((await fetch(url, { method: "POST", ...given })).ok) accepted++;
    }
    return accepted;
  },
};
type Press = { urls: string[]; token: string; connections: number; seconds: number };

export type OutsideCommands = typeof commands;
answerParent(commands, async () => void sink.close());
