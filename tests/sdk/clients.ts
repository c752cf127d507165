import { Resend as Newest } from "resend";
import { Resend as Older } from "resend-6.22";
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from "undici";

/** The client with the types of the newest version. The older version has a part of them. */
export type Sdk = Newest;

/** A version of the official client, configured only with a URL and a key. */
export type Client = {
  name: string;
  isNewest: boolean;
  /** The URL has no `/api`; its host serves the API at the root. */
  isAtRoot: boolean;
  /** Connects to a Backstamp on this loopback port with `API_HOST`. Requires `resolveAllHostsToLoopback`. */
  open(port: number, token: string): Sdk;
};

/** The value of `BACKSTAMP_API_HOST` of the Backstamp under test. */
export const API_HOST = "api.example.com";

const CLASSES = [Newest, Older as unknown as typeof Newest];

export const CLIENTS: readonly Client[] = CLASSES.flatMap((Version) => {
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

/**
 * Both versions, below `/api`. The root of the API's host changes no more than addresses, which
 * `emails.test.ts` calls once for each HTTP method.
 */
export const VERSIONS = CLIENTS.filter(({ isAtRoot }) => !isAtRoot);

/** Resolves every host name in `fetch` of this process to loopback. The returned function restores it. */
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
