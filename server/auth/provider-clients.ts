import type { SignInProvider } from "#db/schema/account";

/** An OAuth client at a provider: its credentials, the provider's issuer URL, and its API URL if that is different. */
export type ProviderClient = { id: string; secret: string; issuer: string; api: string };

/** The configured providers. */
export type ProviderClients = Partial<Record<SignInProvider, ProviderClient>>;

const URLS: Record<SignInProvider, { issuer: string; api: string }> = {
  github: { issuer: "https://github.com", api: "https://api.github.com" },
  google: { issuer: "https://accounts.google.com", api: "" },
};

type Credentials = { id: string; secret: string } | null;

/** The configured providers, with their public URLs. */
export function providerClients({ github, google }: Record<SignInProvider, Credentials>): ProviderClients {
  return {
    ...(github ? { github: { ...github, ...URLS.github } } : {}),
    ...(google ? { google: { ...google, ...URLS.google } } : {}),
  };
}
