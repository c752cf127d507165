import { type FIRST_EMAIL, firstEmailOf, formatCurl } from "../../_ui/text/send-example";

/**
 * Where programs submit email over SMTP. `isImplicitTls`: the connection is encrypted from its first byte.
 */
export type SmtpPort = { port: number; isImplicitTls: boolean; hasTls: boolean };

export type SampleOptions = {
  publicUrl: string;
  /** The sender's domain; null for the built-in one. */
  domain: string | null;
  hasTransport: boolean;
  /** The recipient, if the email is not simulated. */
  ownAddress: string;
  /** The API key. Null: the samples read it from the environment variable BACKSTAMP_KEY. */
  token: string | null;
  smtp: SmtpPort | null;
};
export type Sample = { value: string; label: string; title: string; text: string };

/** Programs that send a first email to this installation, in several languages. */
export function formatSamples(options: SampleOptions): Sample[] {
  const { publicUrl, domain, hasTransport, ownAddress, token, smtp } = options;
  const email = firstEmailOf(domain, hasTransport, ownAddress);
  const keyIn = (environment: string) => (token === null ? environment : JSON.stringify(token));
  const curl = formatCurl(publicUrl, email);
  const node = [
    `import { Resend } from "resend";`,
    "",
    `const resend = new Resend(${keyIn("process.env.BACKSTAMP_KEY")}, {`,
    `  baseUrl: "${publicUrl}/api",`,
    "});",
    `const { data, error } = await resend.emails.send(${JSON.stringify(email, null, 2)});`,
    "console.log(data ?? error);",
  ];
  const python = [
    "import os, resend",
    "",
    `resend.api_url = "${publicUrl}/api"`,
    `resend.api_key = ${keyIn(`os.environ["BACKSTAMP_KEY"]`)}`,
    `print(resend.Emails.send(${JSON.stringify(email, null, 4)}))`,
  ];
  const php = [
    "<?php",
    `$key = ${keyIn(`getenv("BACKSTAMP_KEY")`)};`,
    "$email = [",
    ...Object.entries(email).map(([name, value]) => `  "${name}" => ${JSON.stringify(value)},`),
    "];",
    `echo file_get_contents("${publicUrl}/api/emails", false, stream_context_create(["http" => [`,
    `  "method" => "POST",`,
    `  "header" => ["Authorization: Bearer $key", "Content-Type: application/json"],`,
    `  "content" => json_encode($email),`,
    `  "ignore_errors" => true,`,
    "]]));",
  ];
  const samples: Sample[] = [
    {
      value: "curl",
      label: "curl",
      title: "Command",
      text: token === null ? curl : curl.replace("$BACKSTAMP_KEY", token),
    },
    { value: "node", label: "Node", title: "Using the resend package", text: node.join("\n") },
    { value: "python", label: "Python", title: "Using the resend package", text: python.join("\n") },
    { value: "php", label: "PHP", title: "Without a package", text: php.join("\n") },
  ];
  if (smtp === null) return samples;
  const text = formatSmtp(new URL(publicUrl).hostname, smtp, email, token);
  return [...samples, { value: "smtp", label: "SMTP", title: "Command", text }];
}

function formatSmtp(host: string, smtp: SmtpPort, email: typeof FIRST_EMAIL, token: string | null): string {
  const message = [
    `From: ${email.from}`,
    `To: ${email.to}`,
    `Subject: ${email.subject}`,
    "",
    "It works.",
    "",
  ];
  const sender = /<(.+)>/.exec(email.from)?.[1] ?? email.from;
  const url = `${smtp.isImplicitTls ? "smtps" : "smtp"}://${host}:${smtp.port}`;
  return [
    `printf '${message.join("\\r\\n")}' |`,
    `  curl -sS ${url}${smtp.hasTls && !smtp.isImplicitTls ? " --ssl-reqd" : ""}`,
    `  --user "backstamp:${token ?? "$BACKSTAMP_KEY"}"`,
    `  --mail-from ${sender} --mail-rcpt ${email.to} -T -`,
  ]
    .join(" \\\n")
    .replace("| \\\n", "|\n");
}
