import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

/** A program that submits one message: with the given subject, an HTML and a text body, and one file. */
export type Program = {
  name: string;
  /** The applications that send with this library. */
  applications: string;
  /** How to install it on Debian. */
  debianPackages: string;
  isInstalled(): boolean;
  command: string;
  args: string[];
};

const canRun = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;
const python = "/usr/bin/python3";
const php = "/usr/bin/php";
const ruby = "/usr/bin/ruby";
const MAILER = "/usr/share/php/libphp-phpmailer/autoload.php";
const SYMFONY = "/usr/share/php/Symfony/Component/Mailer/autoload.php";

/** Every script reads PORT and TOKEN from the environment. */
export const SUBJECT = "Grüße aus Köln";
export const HTML = "<p>Größe: 10 €</p>";
export const FILE = "a;b\n1;2\n";

export const PROGRAMS: Program[] = [
  {
    name: "Python's smtplib",
    applications: "Python programs",
    debianPackages: "python3",
    isInstalled: () => existsSync(python),
    command: python,
    args: [
      "-c",
      `
import os, smtplib
from email.message import EmailMessage
m = EmailMessage()
m["From"], m["To"], m["Subject"] = "Ann <ann@example.org>", "ben@example.net", ${JSON.stringify(SUBJECT)}
m.set_content("Text")
m.add_alternative(${JSON.stringify(HTML)}, subtype="html")
m.add_attachment(${JSON.stringify(FILE)}.encode(), maintype="text", subtype="csv", filename="list.csv")
with smtplib.SMTP("127.0.0.1", int(os.environ["PORT"])) as s:
    s.login("backstamp", os.environ["TOKEN"])
    s.send_message(m)
`,
    ],
  },
  {
    name: "Django's mail",
    applications: "Django",
    debianPackages: "python3-django",
    isInstalled: () => canRun(python, "-c", "import django"),
    command: python,
    args: [
      "-c",
      `
import os
from django.conf import settings
settings.configure(EMAIL_HOST="127.0.0.1", EMAIL_PORT=int(os.environ["PORT"]), EMAIL_HOST_USER="backstamp",
    EMAIL_HOST_PASSWORD=os.environ["TOKEN"], EMAIL_USE_TLS=False, DEFAULT_CHARSET="utf-8")
from django.core.mail import EmailMultiAlternatives
m = EmailMultiAlternatives(${JSON.stringify(SUBJECT)}, "Text", "Ann <ann@example.org>", ["ben@example.net"])
m.attach_alternative(${JSON.stringify(HTML)}, "text/html")
m.attach("list.csv", ${JSON.stringify(FILE)}.encode(), "text/csv")
assert m.send() == 1
`,
    ],
  },
  {
    name: "PHPMailer",
    applications: "WordPress",
    debianPackages: "php-cli libphp-phpmailer",
    isInstalled: () => existsSync(php) && existsSync(MAILER),
    command: php,
    args: [
      "-r",
      `
require "${MAILER}";
$m = new PHPMailer\\PHPMailer\\PHPMailer(true);
$m->isSMTP(); $m->Host = "127.0.0.1"; $m->Port = (int) getenv("PORT");
$m->SMTPAuth = true; $m->Username = "backstamp"; $m->Password = getenv("TOKEN");
$m->CharSet = "UTF-8"; $m->setFrom("ann@example.org", "Ann"); $m->addAddress("ben@example.net");
$m->Subject = ${phpText(SUBJECT)}; $m->isHTML(); $m->Body = ${phpText(HTML)}; $m->AltBody = "Text";
$m->addStringAttachment(${phpText(FILE)}, "list.csv", "base64", "text/csv");
$m->send();
`,
    ],
  },
  {
    name: "Symfony Mailer",
    applications: "Laravel, Nextcloud",
    debianPackages: "php-cli php-symfony-mailer",
    isInstalled: () => existsSync(php) && existsSync(SYMFONY),
    command: php,
    args: [
      "-r",
      `
require "${SYMFONY}";
$dsn = "smtp://backstamp:" . urlencode(getenv("TOKEN")) . "@127.0.0.1:" . getenv("PORT");
$mailer = new Symfony\\Component\\Mailer\\Mailer(Symfony\\Component\\Mailer\\Transport::fromDsn($dsn));
$mailer->send((new Symfony\\Component\\Mime\\Email())->from("Ann <ann@example.org>")->to("ben@example.net")
  ->subject(${phpText(SUBJECT)})->text("Text")->html(${phpText(HTML)})->attach(${phpText(FILE)}, "list.csv", "text/csv"));
`,
    ],
  },
  {
    name: "Ruby's mail",
    applications: "Rails",
    debianPackages: "ruby ruby-mail",
    isInstalled: () => existsSync(ruby) && canRun(ruby, "-e", 'require "mail"'),
    command: ruby,
    args: [
      "-e",
      `
require "mail"
Mail.defaults { delivery_method :smtp, address: "127.0.0.1", port: ENV["PORT"].to_i, user_name: "backstamp",
  password: ENV["TOKEN"], authentication: :plain, enable_starttls_auto: true }
m = Mail.new(from: "Ann <ann@example.org>", to: "ben@example.net", subject: ${JSON.stringify(SUBJECT)}, charset: "UTF-8")
m.text_part = Mail::Part.new { body "Text" }
m.html_part = Mail::Part.new { content_type "text/html; charset=UTF-8"; body ${JSON.stringify(HTML)} }
m.attachments["list.csv"] = { mime_type: "text/csv", content: ${JSON.stringify(FILE)} }
m.deliver!
`,
    ],
  },
  {
    name: "swaks",
    applications: "scripts",
    debianPackages: "swaks",
    isInstalled: () => canRun("swaks", "--version"),
    command: "sh",
    args: [
      "-c",
      `printf '${FILE.replaceAll("\n", "\\n")}' > "$FOLDER/list.csv" && swaks --silent 2 --server "127.0.0.1:$PORT" --auth PLAIN --auth-user backstamp --auth-password "$TOKEN" \
  --from ann@example.org --to ben@example.net --header 'From: Ann <ann@example.org>' --header 'Subject: =?utf-8?B?${Buffer.from(SUBJECT).toString("base64")}?=' \
  --attach-type text/plain --attach-body Text --attach-type 'text/html; charset=utf-8' --attach-body '${HTML}' --attach-type text/csv --attach-name list.csv --attach "@$FOLDER/list.csv"`,
    ],
  },
];

/** A text as a PHP expression. */
function phpText(text: string): string {
  return `base64_decode("${Buffer.from(text).toString("base64")}")`;
}
