import type { RelayProvider } from "#db/schema/relays";
import type { Call } from "../support/servers/providers";

/** Copies of the call with one changed character, in the signature or in the body. */
export function forgedCalls(provider: RelayProvider, { raw, headers }: Call): Call[] {
  // The last characters of Base64 may contain unused bits, so change one in the middle.
  const breakRecord = (text: string) => {
    const at = Math.floor(text.length / 2);
    return `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`;
  };
  const without = (name: string) => {
    const { [name]: _, ...rest } = headers;
    return { raw, headers: rest };
  };
  const changed = (name: string) => ({
    raw,
    headers: { ...headers, [name]: breakRecord(headers[name] ?? "") },
  });
  const inBody = (find: RegExp, by: string) => ({ raw: raw.replace(find, by), headers });
  switch (provider) {
    case "postmark":
      return [without("authorization"), changed("authorization")];
    case "mailgun":
      return [
        inBody(/"signature":"./, '"signature":"x'),
        inBody(/"token":"../, '"token":"zz'),
        inBody(/"timestamp":"\d/, '"timestamp":"9'),
        { raw: raw.replace(/"signature":\{[^}]*\},/, ""), headers },
      ];
    case "sendgrid": {
      const [signature, timestamp] = ["signature", "timestamp"].map(
        (name) => `x-twilio-email-event-webhook-${name}`,
      );
      return [
        without(signature ?? ""),
        without(timestamp ?? ""),
        inBody(/cat facts/, "dog facts"),
        { raw, headers: { ...headers, [timestamp ?? ""]: String(Number(headers[timestamp ?? ""]) + 1) } },
        { raw, headers: { ...headers, [signature ?? ""]: "MEUCIQ==" } },
      ];
    }
    case "resend":
      return [
        without("svix-signature"),
        without("svix-timestamp"),
        changed("svix-id"),
        changed("svix-signature"),
        inBody(/Hello/, "Hallo"),
      ];
    case "ses":
      return [
        inBody(/"Signature":"..../, '"Signature":"AAAA'),
        inBody(/"MessageId":"./, '"MessageId":"x'),
        inBody(/"SignatureVersion":"2"/, '"SignatureVersion":"1"'),
      ];
  }
}
