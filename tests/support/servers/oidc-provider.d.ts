/** The parts of the package that the tests use. It has no types of its own. */
declare module "oidc-provider/lib/provider.js" {
  import type { IncomingMessage, ServerResponse } from "node:http";

  type Account = { accountId: string; claims: () => Promise<Record<string, unknown>> };
  type Interaction = {
    prompt: { name: "login" | "consent" };
    params: { client_id: string; scope: string };
    session?: { accountId: string };
  };
  type Result = { login: { accountId: string } } | { consent: { grantId: string } };

  export class Provider {
    constructor(
      issuer: string,
      configuration: {
        clients: readonly Record<string, unknown>[];
        claims: Record<string, readonly string[]>;
        findAccount: (ctx: unknown, sub: string) => Account | undefined;
        conformIdTokenClaims: boolean;
        jwks: { keys: readonly object[] };
        cookies: { keys: readonly string[] };
        adapter: unknown;
        features: { devInteractions: { enabled: boolean } };
        interactions: { url: (ctx: unknown, interaction: { uid: string }) => string };
        pkce: { required: () => boolean };
        ttl: Record<string, number>;
      },
    );
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: Result,
      options: { mergeWithLastSubmission: boolean },
    ): Promise<void>;
    Grant: new (of: {
      accountId: string;
      clientId: string;
    }) => { addOIDCScope(scope: string): void; save(): Promise<string> };
  }
}

declare module "oidc-provider/lib/adapters/memory_adapter.js" {
  /** The constructor of a store; it tolerates clocks that differ by as many seconds. */
  export function createMemoryAdapter(clockToleranceSeconds: number): unknown;
}
