import { isEqual, type Scheme } from "./callback";

/** User name for HTTP basic authentication; the password is the secret. */
export const secretUser = "backstamp";

/** Alternative header for the secret. */
export const secretHeader = "x-callback-secret";

/**
 * Authenticates the callbacks of providers that sign nothing by a secret of ours: as the password of basic
 * authentication in the URL, which all of them document, as a bearer token, or in a header. Postmark:
 * "Webhooks overview", section "Protecting your webhook"; Brevo: "Secured webhook calls"; Mailjet: "Event
 * API: real-time notifications", section "Endpoint URL"; SparkPost: "Event Webhooks API", `auth_type` and
 * `custom_headers`. Callbacks have no trusted timestamp, so an intercepted one can be replayed. A replay only
 * repeats a recorded event.
 */
export const bySecret: Pick<Scheme, "authenticatesByHeader" | "verify"> = {
  authenticatesByHeader: true,
  verify({ header }, secret) {
    const [, scheme, given = ""] =
      /^(Basic|Bearer) +([\x21-\x7e]{1,1024})$/i.exec(header("authorization") ?? "") ?? [];
    const isGiven =
      scheme?.toLowerCase() === "basic"
        ? isEqual(Buffer.from(given, "base64").toString(), `${secretUser}:${secret}`)
        : isEqual(given, secret);
    return isGiven || isEqual(header(secretHeader) ?? "", secret) ? "genuine" : "forged";
  },
};
