/** The part of the package that the tests use. It has no types of its own. */
declare module "oidc-provider" {
  import type { IncomingMessage, ServerResponse } from "node:http";

  type Account = { accountId: string; claims: () => Promise<Record<string, unknown>> };

  class Provider {
    constructor(
      issuer: string,
      configuration: {
        clients: readonly Record<string, unknown>[];
        claims: Record<string, readonly string[]>;
        findAccount: (ctx: unknown, sub: string) => Account | undefined;
        conformIdTokenClaims: boolean;
        jwks: { keys: readonly object[] };
        cookies: { keys: readonly string[] };
        features: { devInteractions: { enabled: boolean } };
        pkce: { required: () => boolean };
        ttl: Record<string, number>;
      },
    );
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
  }

  export { Provider as default };
}
