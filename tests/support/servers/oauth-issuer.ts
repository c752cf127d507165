import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { ProviderClients } from "#server/auth/providers";
import { listenOnLoopback } from "./free-port";

/** An account at the provider. */
export type IssuerAccount = { sub: string; email: string; isVerified?: boolean; name?: string };

/** Faults that a test can give the issuer. */
export type IssuerFault = "down" | "error" | "garbage" | "nonce" | "signature" | "audience" | "expired";

type Grant = { account: IssuerAccount; challenge: string; redirectUri: string; nonce: string | null };

const client = { id: "backstamp-test", secret: "the secret of a client" };
const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

/**
 * A provider on loopback with the interfaces of GitHub and Google: codes that are valid once and require the
 * client's secret, the redirect URI and the PKCE verifier; id tokens signed with a separate key; and GitHub's
 * API.
 */
export async function startOauthIssuer() {
  const keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const otherKeys = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const grants = new Map<string, Grant>();
  const tokens = new Map<string, IssuerAccount>();
  let fault: IssuerFault | null = null;

  const server = createServer(async (request, response) => {
    const answer = (status: number, body: object | string) => {
      const isText = typeof body === "string";
      response.writeHead(status, { "content-type": isText ? "text/html" : "application/json" });
      response.end(isText ? body : JSON.stringify(body));
    };
    if (fault === "down") return void request.socket.destroy();
    if (fault === "error") return answer(500, { error: "server_error" });
    if (fault === "garbage") return answer(200, "<html>maintenance</html>");
    const { pathname } = new URL(request.url ?? "/", url);
    switch (pathname) {
      case "/.well-known/openid-configuration":
        return answer(200, {
          issuer: url,
          authorization_endpoint: `${url}/authorize`,
          token_endpoint: `${url}/token`,
          jwks_uri: `${url}/jwks`,
          response_types_supported: ["code"],
          subject_types_supported: ["public"],
          id_token_signing_alg_values_supported: ["RS256"],
        });
      case "/jwks":
        return answer(200, {
          keys: [{ ...keys.publicKey.export({ format: "jwk" }), kid: "1", alg: "RS256", use: "sig" }],
        });
      case "/token":
      case "/login/oauth/access_token": {
        const grant = spend(request, new URLSearchParams(await read(request)));
        if (!grant) return answer(400, { error: "invalid_grant" });
        const token = randomBytes(16).toString("hex");
        tokens.set(token, grant.account);
        const isOpenId = pathname === "/token";
        return answer(200, {
          access_token: token,
          token_type: "bearer",
          ...(isOpenId ? { id_token: idToken(grant) } : {}),
        });
      }
      case "/user":
      case "/user/emails": {
        const account = tokens.get(request.headers.authorization?.replace(/^Bearer /, "") ?? "");
        if (!account) return answer(401, { message: "Bad credentials" });
        const { sub, email, isVerified = true, name } = account;
        // The owner chooses the address of the profile, so it is not verified.
        if (pathname === "/user") return answer(200, { id: Number(sub), login: "octo", name, email });
        return answer(200, [
          { email: "spare@example.com", primary: false, verified: true },
          { email, primary: true, verified: isVerified },
        ]);
      }
      default:
        return answer(404, {});
    }
  });
  const url = `http://127.0.0.1:${await listenOnLoopback(server)}`;

  function spend(request: IncomingMessage, form: URLSearchParams): Grant | null {
    const basic = Buffer.from(
      request.headers.authorization?.replace(/^Basic /, "") ?? "",
      "base64",
    ).toString();
    const [id = "", secret = ""] = basic ? basic.split(":").map(decodeForm) : [];
    const code = form.get("code") ?? "";
    const grant = grants.get(code);
    grants.delete(code);
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const isGood =
      id === client.id &&
      secret === client.secret &&
      challenge === grant?.challenge &&
      form.get("redirect_uri") === grant.redirectUri;
    return isGood && grant ? grant : null;
  }

  function idToken({ account, nonce }: Grant): string {
    const now = Math.floor(Date.now() / 1000) - (fault === "expired" ? 7_200 : 0);
    const head = base64url({ alg: "RS256", kid: "1", typ: "JWT" });
    const body = base64url({
      iss: url,
      aud: fault === "audience" ? "another client" : client.id,
      sub: account.sub,
      email: account.email,
      email_verified: account.isVerified ?? true,
      ...(account.name ? { name: account.name } : {}),
      nonce: fault === "nonce" ? "another" : nonce,
      iat: now,
      exp: now + 3_600,
    });
    const key = fault === "signature" ? otherKeys.privateKey : keys.privateKey;
    return `${head}.${body}.${sign("sha256", Buffer.from(`${head}.${body}`), key).toString("base64url")}`;
  }

  const providers: ProviderClients = {
    github: { ...client, issuer: url, api: url },
    google: { ...client, issuer: url, api: "" },
  };
  return {
    url,
    providers,
    /** Makes it respond with this fault until it is called with null. */
    fail: (as: IssuerFault | null) => {
      fault = as;
    },
    /** Grants the request of a page for that account. Returns the URL to which the browser is redirected. */
    approve(requestUrl: string, account: IssuerAccount): string {
      const { searchParams: query } = new URL(requestUrl);
      const code = randomBytes(16).toString("hex");
      const redirectUri = query.get("redirect_uri") ?? "";
      const challenge = query.get("code_challenge_method") === "S256" ? query.get("code_challenge") : null;
      grants.set(code, { account, challenge: challenge ?? "none", redirectUri, nonce: query.get("nonce") });
      const back = new URL(redirectUri);
      back.searchParams.set("code", code);
      back.searchParams.set("state", query.get("state") ?? "");
      return back.href;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

export type OauthIssuer = Awaited<ReturnType<typeof startOauthIssuer>>;

const decodeForm = (text: string) => decodeURIComponent(text.replaceAll("+", " "));

async function read(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request) body += chunk;
  return body;
}
