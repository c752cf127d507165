import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { z } from "zod";

const responseCharsMax = 12_000;

const Base64Url = z.string().regex(/^[\w-]{1,8000}$/);
const Credential = z.object({ id: Base64Url, rawId: Base64Url, type: z.literal("public-key") });

const Registration = Credential.extend({
  response: z.object({
    clientDataJSON: Base64Url,
    attestationObject: Base64Url,
    transports: z
      .array(z.string().regex(/^[a-z-]{1,20}$/))
      .max(10)
      .optional(),
  }),
});

const Authentication = Credential.extend({
  response: z.object({
    clientDataJSON: Base64Url,
    authenticatorData: Base64Url,
    signature: Base64Url,
    userHandle: Base64Url.optional(),
  }),
});

/** Parses a browser's registration response from JSON; null for anything else. */
export function parseRegistration(text: string): RegistrationResponseJSON | null {
  const read = Registration.safeParse(parse(text));
  if (!read.success) return null;
  const { transports, ...response } = read.data.response;
  return {
    ...read.data,
    clientExtensionResults: {},
    response: { ...response, ...(transports ? { transports } : {}) },
  } as RegistrationResponseJSON;
}

/** Parses a browser's authentication response from JSON; null for anything else. */
export function parseAuthentication(text: string): AuthenticationResponseJSON | null {
  const read = Authentication.safeParse(parse(text));
  if (!read.success) return null;
  const { userHandle, ...response } = read.data.response;
  return {
    ...read.data,
    clientExtensionResults: {},
    response: { ...response, ...(userHandle ? { userHandle } : {}) },
  };
}

function parse(text: string): unknown {
  if (text.length > responseCharsMax) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
