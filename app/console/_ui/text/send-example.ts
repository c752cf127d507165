/** The example email. Its recipient is simulated by the service, so it needs no relay. */
export const FIRST_EMAIL = {
  from: "Backstamp <hello@backstamp.test>",
  to: "delivered@backstamp.test",
  subject: "First email",
  html: "<p>It works.</p>",
};

/**
 * The recipient of a test from this sender: the user, or the simulated recipient if one of both has an
 * address of backstamp.test. Email from there goes nowhere else, and an address of a user there does not
 * exist.
 */
export const testRecipientOf = (sender: string, ownAddress: string): string =>
  [sender, ownAddress].some((address) => /@backstamp\.test>?$/i.test(address.trim()))
    ? FIRST_EMAIL.to
    : ownAddress;

/**
 * The example email from the team's verified domain. Without one, or without a transport, the recipient is
 * simulated: an email to a real one would be rejected or stay queued.
 */
export function firstEmailOf(domain: string | null, hasTransport: boolean, ownAddress: string) {
  const from = domain === null ? FIRST_EMAIL.from : `Backstamp <hello@${domain}>`;
  return { ...FIRST_EMAIL, from, to: hasTransport ? testRecipientOf(from, ownAddress) : FIRST_EMAIL.to };
}

/** The curl command that sends an email. It reads the API key from the environment variable BACKSTAMP_KEY. */
export const formatCurl = (publicUrl: string, email: object): string =>
  [
    `curl -sS ${publicUrl}/api/emails`,
    `  -H "Authorization: Bearer $BACKSTAMP_KEY"`,
    `  -H "Content-Type: application/json"`,
    `  -d ${quote(JSON.stringify(email, null, 2).replaceAll("\n", "\n  "))}`,
  ].join(" \\\n");

/** Quotes text for a POSIX shell. In single quotes every character is literal except the single quote. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
