"use client";

import { Circle, CircleCheck } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { Tabs } from "../_ui/page/tabs";
import { cardStyle, linkStyle } from "../_ui/styles";
import { useConsoleHref } from "../_ui/team";
import { CodeBlock } from "../_ui/text/code-block";
import { FIRST_EMAIL, formatCurl } from "../_ui/text/send-example";

type Setup = { hasTransport: boolean; verifiedDomain: string | null; hasKey: boolean };

/** The remaining setup steps before email can be sent, with examples that send the first one. */
export function SetupCard({ setup, publicUrl }: { setup: Setup; publicUrl: string }) {
  const hrefOf = useConsoleHref();
  const { hasTransport, verifiedDomain, hasKey } = setup;
  const done = [hasTransport, verifiedDomain !== null, hasKey].filter(Boolean).length;
  const link = (path: string, text: string) => (
    <Link href={hrefOf(path)} prefetch={false} className={linkStyle}>
      {text}
    </Link>
  );
  return (
    <section aria-labelledby="setup" className={`${cardStyle} mb-6 min-w-0`}>
      <div className="flex flex-wrap items-baseline justify-between gap-2 border-line border-b px-5 py-3.5">
        <h2 id="setup" className="font-semibold">
          Set up sending
        </h2>
        <p className="text-soft text-xs">{done} of 4 done</p>
      </div>
      <div className="grid grid-cols-1 gap-x-8 gap-y-6 p-5 lg:grid-cols-[minmax(0,20rem)_minmax(0,1fr)]">
        <ol className="flex flex-col gap-4">
          <Step isDone={hasTransport} title="Outgoing email">
            {hasTransport
              ? "Configured."
              : "The operator sets SMTP_URL or adds a relay: backstamp relay add."}
          </Step>
          <Step isDone={verifiedDomain !== null} title="Sending domain">
            {verifiedDomain === null ? (
              <>
                {link("/console/domains", "Add a domain")} and publish its DNS records. Until then, test with{" "}
                <code>hello@backstamp.test</code> as the sender and <code>delivered@backstamp.test</code> as
                the recipient.
              </>
            ) : (
              <>{verifiedDomain} is verified.</>
            )}
          </Step>
          <Step isDone={hasKey} title="API key">
            {hasKey ? "Created." : <>{link("/console/keys", "Create an API key")}. It is shown only once.</>}
          </Step>
          <Step isDone={false} title="First email from your domain">
            Send it with one of these examples. The overview updates automatically.
          </Step>
        </ol>
        <Snippets domain={hasTransport ? verifiedDomain : null} publicUrl={publicUrl} />
      </div>
    </section>
  );
}

function Step({ isDone, title, children }: { isDone: boolean; title: string; children: ReactNode }) {
  const Icon = isDone ? CircleCheck : Circle;
  return (
    <li className="flex gap-3">
      <Icon className={`mt-0.5 size-4 shrink-0 ${isDone ? "text-good" : "text-soft"}`} aria-hidden="true" />
      <div className="min-w-0">
        <h3 className={`font-medium ${isDone ? "text-soft" : ""}`}>
          {title}
          <span className="sr-only">{isDone ? " (done)" : " (to do)"}</span>
        </h3>
        <p className="text-soft leading-6">{children}</p>
      </div>
    </li>
  );
}

function Snippets({ domain, publicUrl }: { domain: string | null; publicUrl: string }) {
  const email =
    domain === null
      ? FIRST_EMAIL
      : { ...FIRST_EMAIL, from: `Backstamp <hello@${domain}>`, to: "you@example.com" };
  const curl = formatCurl(publicUrl, email);
  const node = [
    `import { Resend } from "resend";`,
    "",
    "const resend = new Resend(process.env.BACKSTAMP_KEY, {",
    `  baseUrl: "${publicUrl}/api",`,
    "});",
    `const { data, error } = await resend.emails.send(${JSON.stringify(email, null, 2)});`,
    "console.log(data ?? error);",
  ].join("\n");
  const python = [
    "import os, resend",
    "",
    `resend.api_url = "${publicUrl}/api"`,
    `resend.api_key = os.environ["BACKSTAMP_KEY"]`,
    `print(resend.Emails.send(${JSON.stringify(email, null, 4)}))`,
  ].join("\n");
  const panel = (text: string, label: string) => (
    <div className="pt-4">
      <CodeBlock text={text} label={label} />
    </div>
  );
  return (
    <Tabs
      label="Send the first email with"
      tabs={[
        { value: "curl", label: "curl", content: panel(curl, "Command") },
        { value: "node", label: "Node", content: panel(node, "Using the resend package") },
        { value: "python", label: "Python", content: panel(python, "Using the resend package") },
      ]}
    />
  );
}
