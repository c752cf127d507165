import type { SignInProvider } from "#db/schema/account";

/** An application of ours at a provider, and where that provider is: its pages, and its API where that is elsewhere. */
export type ProviderClient = { id: string; secret: string; issuer: string; api: string };

/** The providers that are set up. */
export type ProviderClients = Partial<Record<SignInProvider, ProviderClient>>;

const PLACES: Record<SignInProvider, { issuer: string; api: string }> = {
  github: { issuer: "https://github.com", api: "https://api.github.com" },
  google: { issuer: "https://accounts.google.com", api: "" },
};

type Keys = { id: string; secret: string } | null;

/** Those of the settings, at the providers' own addresses. */
export function providerClients({ github, google }: Record<SignInProvider, Keys>): ProviderClients {
  return {
    ...(github ? { github: { ...github, ...PLACES.github } } : {}),
    ...(google ? { google: { ...google, ...PLACES.google } } : {}),
  };
}
