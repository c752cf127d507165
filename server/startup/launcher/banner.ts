import { parseMailbox } from "#server/mail/address/address";
import { cli } from "#server/platform/env/cli";

/** How the reader of the banner signs in. */
export type Login =
  /** No user exists; the code creates one. */
  | { kind: "code"; code: string }
  /** The password is null if it comes from a setting; the banner does not show it then. */
  | { kind: "password"; email: string; password: string | null }
  /** Users exist already. */
  | { kind: "users" };

export type BannerFacts = {
  mode: "dev" | "start";
  /** The public URL. */
  url: string;
  /** The URL for programs on this machine. */
  localUrl: string;
  login: Login;
  firstKeyToken: string | null;
  secretsFile: string;
  /** Null: email without a relay stays queued. */
  smtpUrl: string | null;
  /** All relays of the installation. Those without a team serve all teams. */
  relays: readonly { teamId: string | null }[];
  /** The sender of sign-in links and invitations. */
  systemFrom: string;
  /** The ports at which programs submit email over SMTP; null if off. */
  submission: { port: number | null; securePort: number | null; hasTls: boolean };
};

/**
 * The launcher's output after startup: the console's URL and commands to copy and paste. In `start` the
 * output is a log, so it names the secrets file and contains no secret, except for the first user's code,
 * which is valid only once.
 */
export function renderBanner(facts: BannerFacts): string {
  const lines = [
    "",
    `  Backstamp is running.`,
    "",
    `  Console   ${facts.url}`,
    ...loginLines(facts),
    "",
    ...transportLines(facts),
    ...firstEmailLines(facts),
    ...submissionLines(facts),
  ];
  return `${lines.join("\n")}\n`;
}

function loginLines({ mode, url, login, secretsFile }: BannerFacts): string[] {
  switch (login.kind) {
    case "code":
      return [
        `  Set up    ${setUpLink(url, login.code)}`,
        "            Creates the first user. The link works once and expires in 24 hours.",
      ];
    case "users":
      return [`  Login     Forgot the password? ${cli} user reset-password EMAIL`];
    case "password": {
      const kept = mode === "dev" ? login.password : `see adminPassword in ${secretsFile}`;
      const password = login.password === null ? "see BACKSTAMP_ADMIN" : kept;
      return [`  Login     ${login.email}`, `  Password  ${password}`];
    }
  }
}

function transportLines({ smtpUrl, relays, systemFrom }: BannerFacts): string[] {
  const noSender = parseMailbox(systemFrom).ok
    ? []
    : [
        `  Sign-in links and invitations cannot be sent: ${systemFrom} is not a valid sender. Set BACKSTAMP_SYSTEM_FROM.`,
        "",
      ];
  const count = `${relays.length} relay${relays.length === 1 ? "" : "s"}`;
  if (smtpUrl === "capture:") {
    const unused = relays.length > 0 ? ["  As long as it is, the relays are not used."] : [];
    return ["  All email is captured: the console shows it, and it is not sent.", ...unused, ""];
  }
  if (relays.some(({ teamId }) => teamId === null))
    return [`  Email is sent by ${count}: ${cli} relay list`, "", ...noSender];
  if (smtpUrl !== null) return noSender;
  const missing =
    relays.length > 0
      ? "  Only some teams or domains have a relay. Other email to real recipients stays queued (no_transport)."
      : "  Outgoing email is not configured. Email to real recipients stays queued (no_transport).";
  return [
    missing,
    "  Add a relay or set SMTP_URL. Email to backstamp.test works without them, as below.",
    "",
  ];
}

function firstEmailLines({ mode, localUrl, firstKeyToken, secretsFile }: BannerFacts): string[] {
  if (firstKeyToken === null) {
    return [
      "  Create an API key:",
      "",
      `    ${cli} key create --name first --scopes emails:send,emails:read`,
      "",
    ];
  }
  const isDev = mode === "dev";
  const token = isDev ? firstKeyToken : "$BACKSTAMP_KEY";
  const mail = {
    from: "Backstamp <hello@backstamp.test>",
    to: "delivered@backstamp.test",
    subject: "First email",
    html: "<p>It works.</p>",
  };
  const read = `process.stdout.write(JSON.parse(fs.readFileSync(process.argv[1])).firstKeyToken)`;
  return [
    "  Send a first email:",
    "",
    ...(isDev ? [] : [`    BACKSTAMP_KEY=$(node -e '${read}' ${quote(secretsFile)})`]),
    `    curl -sS ${localUrl}/api/emails -H "Authorization: Bearer ${token}" -H "Content-Type: application/json" -d ${quote(JSON.stringify(mail))}`,
    "",
    "  Show the latest email, or one email by its id:",
    "",
    `    curl -sS "${localUrl}/api/emails?limit=1" -H "Authorization: Bearer ${token}"`,
    `    ${cli} email show ID`,
    "",
  ];
}

/**
 * The SMTP ports, and in dev a command that submits an email. curl is used because the first email needs it
 * already.
 */
function submissionLines({ mode, submission, firstKeyToken }: BannerFacts): string[] {
  const { port, securePort, hasTls } = submission;
  if (port === null && securePort === null) return [];
  const ports = [
    ...(port === null ? [] : [`port ${port}${hasTls ? " (STARTTLS)" : ""}`]),
    ...(securePort === null ? [] : [`port ${securePort} (TLS)`]),
  ];
  const about = `  SMTP submission on ${ports.join(" and ")}: user backstamp, password an API key.`;
  if (mode !== "dev" || port === null || hasTls || firstKeyToken === null) return [about, ""];
  const [from, to] = ["hello@backstamp.test", "delivered@backstamp.test"];
  const lines = [
    `From: Backstamp <${from}>`,
    `To: ${to}`,
    "Subject: First email over SMTP",
    "",
    "It works.",
    "",
  ];
  return [
    about,
    "",
    `    printf ${quote(lines.join("\\r\\n"))} | curl -sS smtp://127.0.0.1:${port} --user ${quote(`backstamp:${firstKeyToken}`)} --mail-from ${from} --mail-rcpt ${to} -T -`,
    "",
  ];
}

/** Quotes any text as one word of a POSIX shell. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * The link that creates the first user. The code is in the fragment, which browsers do not send to servers.
 */
export const setUpLink = (url: string, code: string): string => `${url}/setup#${code}`;
