import type { Ctx } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { createProviderCall, type ProviderCall } from "./provider-call";
import { mailgun } from "./providers/mailgun";
import { postmark } from "./providers/postmark";
import type { Imported, Provider, ProviderName } from "./providers/provider";
import { resend } from "./providers/resend";
import { sendgrid } from "./providers/sendgrid";
import { ses } from "./providers/ses";

export const PROVIDERS: Readonly<Record<ProviderName, Provider>> = {
  resend,
  sendgrid,
  postmark,
  ses,
  mailgun,
};

/** What an import reads: the bytes of a file, or a provider's API. */
export type ImportSource = { bytes: AsyncIterable<Uint8Array> } | { call: ProviderCall };

export const REGIONS = ["us", "eu"] as const;

/** The credentials of an API call. `baseUrl` replaces the provider's URL in tests. */
export type ApiOptions = {
  key: string;
  region: (typeof REGIONS)[number];
  baseUrl?: string | undefined;
  wait: (ms: number) => Promise<void>;
};

/** Opens a provider's API. AppError if it is not called by this product, or not in this region. */
export function openApi(
  ctx: Ctx,
  provider: Provider,
  what: Imported,
  { key, region, baseUrl, wait }: ApiOptions,
): { call: ProviderCall } {
  const { label, api } = provider;
  const url = baseUrl ?? api?.urls[region];
  if (api === null)
    throw new AppError(
      "invalid",
      `The API of ${label} is not called. Name a file with the output of the AWS CLI.`,
    );
  if (url === undefined) throw new AppError("invalid", `${label} has no API in the region ${region}.`);
  return { call: createProviderCall(ctx, { label, baseUrl: url, headers: api.headersOf(key, what), wait }) };
}
