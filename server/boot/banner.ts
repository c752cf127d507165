/** How whoever reads the banner gets in. */
export type Login =
  /** Nobody is a user yet: the code makes one. */
  | { kind: "code"; code: string }
  /** The password is null where it was given by a setting and is not ours to show. */
  | { kind: "password"; email: string; password: string | null }
  /** There are users, of whom nothing is known here. */
  | { kind: "users" };

export type BannerFacts = {
  mode: "dev" | "start";
  /** The public address. */
  url: string;
  /** Where this machine reaches the service. */
  localUrl: string;
  login: Login;
  firstKeyToken: string | null;
  secretsFile: string;
  /** Null: real recipients wait. */
  smtpUrl: string | null;
};

/**
 * What the launcher prints when everything runs: where the console is, and commands that work exactly as pasted. Under
 * `start` the output is a log, so it names the file that holds secrets and never one of them, but for the code that is worth
 * nothing once it was used.
 */
export function renderBanner(facts: BannerFacts): string {
  const lines = [
    "",
    `  Posthorn is running.`,
    "",
    `  Console   ${facts.url}`,
    ...loginLines(facts),
    "",
    ...transportLines(facts),
    ...firstMailLines(facts),
  ];
  return `${lines.join("\n")}\n`;
}

function loginLines({ mode, url, login, secretsFile }: BannerFacts): string[] {
  switch (login.kind) {
    case "code":
      return [
        `  Set up    ${setUpLink(url, login.code)}`,
        "            Opens once, within a day, to make the first user.",
      ];
    case "users":
      return ["  Login     A lost password: npm run -s posthorn -- user reset-password EMAIL"];
    case "password": {
      const kept = mode === "dev" ? login.password : `see adminPassword in ${secretsFile}`;
      const password = login.password === null ? "as given by POSTHORN_ADMIN_PASSWORD" : kept;
      return [`  Login     ${login.email}`, `  Password  ${password}`];
    }
  }
}

function transportLines({ smtpUrl }: BannerFacts): string[] {
  if (smtpUrl === "capture:") return ["  Every mail is captured: the console shows it, nobody gets it.", ""];
  if (smtpUrl !== null) return [];
  return [
    "  There is no way out yet: mail to real recipients waits (no_transport) until SMTP_URL is set.",
    "  Mail to posthorn.test is answered here, as below.",
    "",
  ];
}

function firstMailLines({ mode, localUrl, firstKeyToken, secretsFile }: BannerFacts): string[] {
  if (firstKeyToken === null) {
    return [
      "  Make a key with which programs send:",
      "",
      "    npm run -s posthorn -- key create --name first --scopes emails:send,emails:read",
      "",
    ];
  }
  const isDev = mode === "dev";
  const token = isDev ? firstKeyToken : "$POSTHORN_KEY";
  const mail = {
    from: "Posthorn <hello@posthorn.test>",
    to: "delivered@posthorn.test",
    subject: "First mail",
    html: "<p>It works.</p>",
  };
  const read = `process.stdout.write(JSON.parse(fs.readFileSync(process.argv[1])).firstKeyToken)`;
  return [
    "  Send a first mail:",
    "",
    ...(isDev ? [] : [`    POSTHORN_KEY=$(node -e '${read}' ${quote(secretsFile)})`]),
    `    curl -sS ${localUrl}/api/emails -H "Authorization: Bearer ${token}" -H "Content-Type: application/json" -d ${quote(JSON.stringify(mail))}`,
    "",
    "  See what became of it, newest first, or of one mail by its id:",
    "",
    `    curl -sS "${localUrl}/api/emails?limit=1" -H "Authorization: Bearer ${token}"`,
    "    npm run -s posthorn -- email show ID",
    "",
  ];
}

/** One word for a POSIX shell, whatever it holds. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Where the code makes the first user. It stands in the fragment, which a browser sends to nobody. */
export const setUpLink = (url: string, code: string): string => `${url}/setup#${code}`;
