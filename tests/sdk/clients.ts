import { Resend as Newest } from "resend";
import { Resend as Older } from "resend-6.22";
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from "undici";

/** The client as the newest version types it; the older one has a part of that. */
export type Sdk = Newest;

/** One way in which a program meets Backstamp: a version of the official client, told nothing but an address and a key. */
export type Client = {
  name: string;
  isNewest: boolean;
  /** The address has no `/api`, and its host is the one at whose root the API answers. */
  isAtRoot: boolean;
  /** For a Backstamp on this port of loopback that knows `API_HOST`, with `nameEverythingHere` in force. */
  open(port: number, token: string): Sdk;
};

/** What the Backstamp under test is told as `BACKSTAMP_API_HOST`. */
export const API_HOST = "api.example.com";

const VERSIONS = [Newest, Older as unknown as typeof Newest];

export const CLIENTS: readonly Client[] = VERSIONS.flatMap((Version) => {
  const { userAgent } = new Version("re_name");
  return [false, true].map((isAtRoot) => ({
    name: `${userAgent}, ${isAtRoot ? "at the root of the API's host" : "below /api"}`,
    isNewest: Version === Newest,
    isAtRoot,
    open: (port, token) => {
      const address = isAtRoot ? `${API_HOST}:${port}` : `127.0.0.1:${port}/api`;
      const settings = { RESEND_BASE_URL: `http://${address}`, RESEND_API_KEY: token };
      const before = Object.keys(settings).map((name) => [name, process.env[name]] as const);
      Object.assign(process.env, settings);
      const sdk = new Version();
      for (const [name, value] of before)
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      return sdk;
    },
  }));
});

/** Makes every host name that this process fetches from mean loopback, until the function that it gives back is called. */
export function resolveAllHostsToLoopback(): () => Promise<void> {
  const before = getGlobalDispatcher();
  const here = new Agent({
    connect: {
      lookup: (_, { all }, done) =>
        all ? done(null, [{ address: "127.0.0.1", family: 4 }]) : done(null, "127.0.0.1", 4),
    },
  });
  setGlobalDispatcher(here);
  return async () => {
    setGlobalDispatcher(before);
    await here.close();
  };
}
