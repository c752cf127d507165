import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { z } from "zod";
import { parseJson } from "#server/shared/text/parse-json";

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

const parserOf =
  <Schema extends z.ZodType<object>>(schema: Schema) =>
  (text: string) => {
    const { data } = schema.safeParse(text.length > responseCharsMax ? null : parseJson(text));
    return data ? { ...data, clientExtensionResults: {} } : null;
  };

/** Parses a browser's registration response from JSON; null for anything else. */
export const parseRegistration = parserOf(Registration) as (text: string) => RegistrationResponseJSON | null;
/** Parses a browser's authentication response from JSON; null for anything else. */
export const parseAuthentication: (text: string) => AuthenticationResponseJSON | null =
  parserOf(Authentication);
