import { generateKeyPairSync } from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
// The package's main file prints a warning on releases of Node that it does not support.
import { createMemoryAdapter } from "oidc-provider/lib/adapters/memory_adapter.js";
import { Provider } from "oidc-provider/lib/provider.js";

/** What the provider states about a user. A claim that is absent is not sent. */
export type OpenIdAccount = { email?: string; email_verified?: boolean; name?: string };

const form = (prompt: string, fields: string) =>
  `<form method="post"><input type="hidden" name="prompt" value="${prompt}">${fields}<button type="submit">Continue</button></form>`;
const PAGES = {
  login: form("login", '<input name="login"><input name="password" type="password">'),
  consent: form("consent", ""),
};

/**
 * A real OpenID provider (the certified package oidc-provider) on a loopback port, with one client, PKCE
 * required and its own pages for login and consent. `userinfoOnly`: claims about the user are only at the
 * userinfo endpoint, as the specification has it for code flows.
 */
export async function startOpenIdProvider({
  redirectUri,
  userinfoOnly = false,
  port = 0,
}: {
  redirectUri: string;
  userinfoOnly?: boolean;
  /**
   * The default is a free one, of an issuer with the IP address in its URL; the issuer of a given one is on
   * localhost.
   */
  port?: number;
}) {
  const accounts = new Map<string, OpenIdAccount>();
  const client = { id: "backstamp", secret: "the secret of an OpenID client" };
  let listener: RequestListener = (_request, response) => void response.writeHead(503).end();
  const server = createServer((request, response) => listener(request, response));
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const url = `http://${port === 0 ? "127.0.0.1" : "localhost"}:${(server.address() as AddressInfo).port}`;
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const provider = new Provider(url, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [redirectUri],
        response_types: ["code"],
        grant_types: ["authorization_code"],
      },
    ],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    findAccount: (_ctx, sub) =>
      accounts.has(sub) ? { accountId: sub, claims: async () => ({ sub, ...accounts.get(sub) }) } : undefined,
    conformIdTokenClaims: userinfoOnly,
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), alg: "RS256", use: "sig", kid: "1" }] },
    cookies: { keys: ["a key of the test"] },
    // The package prints a warning about those of its own that are the default.
    adapter: createMemoryAdapter(0),
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    pkce: { required: () => true },
    // Without them the package prints a notice for each.
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
  });
  /** A page for login or consent, and its result once the form is submitted. */
  const interact: RequestListener = async (request, response) => {
    const { prompt, params, session } = await provider.interactionDetails(request, response);
    if (request.method !== "POST") {
      response.setHeader("content-type", "text/html");
      response.end(PAGES[prompt.name]);
      return;
    }
    const form = new URLSearchParams(await text(request));
    const grant = new provider.Grant({ accountId: session?.accountId ?? "", clientId: params.client_id });
    grant.addOIDCScope(params.scope);
    const result =
      prompt.name === "login"
        ? { login: { accountId: form.get("login") ?? "" } }
        : { consent: { grantId: await grant.save() } };
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
  };
  const respond = provider.callback();
  listener = (request, response) =>
    request.url?.startsWith("/interaction/") ? interact(request, response) : respond(request, response);

  return {
    url,
    client,
    /** Creates or changes an account. */
    setAccount: (sub: string, account: OpenIdAccount) => void accounts.set(sub, account),
    /**
     * Goes through the provider's pages like a browser of this user: login, consent, redirect. Returns the
     * URL at which the provider leaves its own pages: that of the client's callback.
     */
    async authorize(requestUrl: string, sub: string): Promise<string> {
      const jar = new Map<string, string>();
      const ask = async (to: string, form?: Record<string, string>): Promise<Response> => {
        const response = await fetch(to, {
          redirect: "manual",
          headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; ") },
          ...(form && { method: "POST", body: new URLSearchParams(form) }),
        });
        for (const line of response.headers.getSetCookie()) {
          const [name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line)?.slice(1) ?? [];
          jar.set(name, value);
        }
        return response;
      };
      let at = requestUrl;
      for (let step = 0; step < 12; step++) {
        const response = await ask(at);
        let location = response.headers.get("location");
        if (location === null) {
          const page = await response.text();
          const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
          if (prompt === undefined) throw new Error(`the provider responded ${response.status}: ${page}`);
          const submitted = await ask(at, {
            prompt,
            ...(prompt === "login" && { login: sub, password: "x" }),
          });
          location = submitted.headers.get("location");
        }
        if (location === null) throw new Error("the provider did not continue");
        at = new URL(location, at).href;
        if (new URL(at).origin !== new URL(requestUrl).origin) return at;
      }
      throw new Error("the provider redirects in a circle");
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
