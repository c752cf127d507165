"use client";

import { Circle, CircleCheck } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { CodeBlock } from "../_ui/code-block";
import { curlCall, FIRST_MAIL } from "../_ui/send-call";
import { cardStyle, linkStyle } from "../_ui/styles";
import { Tabs } from "../_ui/tabs";
import { useConsoleHref } from "../_ui/team";

type Setup = { hasWayOut: boolean; verifiedDomain: string | null; hasKey: boolean };

/** What is still to be done before mail goes out into the world, with the call that sends the first one. */
export function SetupCard({ setup, publicUrl }: { setup: Setup; publicUrl: string }) {
  const hrefOf = useConsoleHref();
  const { hasWayOut, verifiedDomain, hasKey } = setup;
  const done = [hasWayOut, verifiedDomain !== null, hasKey].filter(Boolean).length;
  const link = (path: string, text: string) => (
    <Link href={hrefOf(path)} prefetch={false} className={linkStyle}>
      {text}
    </Link>
  );
  return (
    <section aria-labelledby="setup" className={`${cardStyle} mb-6 min-w-0`}>
      <div className="flex flex-wrap items-baseline justify-between gap-2 border-line border-b px-5 py-3.5">
        <h2 id="setup" className="font-semibold">
          Before the first real mail
        </h2>
        <p className="text-soft text-xs">{done} of 4 done</p>
      </div>
      <div className="grid grid-cols-1 gap-x-8 gap-y-6 p-5 lg:grid-cols-[minmax(0,20rem)_minmax(0,1fr)]">
        <ol className="flex flex-col gap-4">
          <Step isDone={hasWayOut} title="A way out">
            {hasWayOut
              ? "Mail can leave this installation."
              : "The operator sets SMTP_URL, or adds a relay: posthorn relay add."}
          </Step>
          <Step isDone={verifiedDomain !== null} title="A domain of your own">
            {verifiedDomain === null ? (
              <>
                {link("/console/domains", "Add it")} and put its records into DNS. Until then mail from
                posthorn.test to posthorn.test shows how all of it works.
              </>
            ) : (
              <>{verifiedDomain} is verified.</>
            )}
          </Step>
          <Step isDone={hasKey} title="A key for your program">
            {hasKey ? "There is one." : <>{link("/console/keys", "Create it")}; it is shown once.</>}
          </Step>
          <Step isDone={false} title="The first mail">
            Send it by the call that stands here; it shows up by itself.
          </Step>
        </ol>
        <Snippets domain={hasWayOut ? verifiedDomain : null} publicUrl={publicUrl} />
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
  const mail =
    domain === null
      ? FIRST_MAIL
      : { ...FIRST_MAIL, from: `Posthorn <hello@${domain}>`, to: "you@example.com" };
  const curl = curlCall(publicUrl, mail);
  const node = [
    `import { Resend } from "resend";`,
    "",
    "const resend = new Resend(process.env.POSTHORN_KEY, {",
    `  baseUrl: "${publicUrl}/api",`,
    "});",
    `const { data, error } = await resend.emails.send(${JSON.stringify(mail, null, 2)});`,
    "console.log(data ?? error);",
  ].join("\n");
  const python = [
    "import os, resend",
    "",
    `resend.api_url = "${publicUrl}/api"`,
    `resend.api_key = os.environ["POSTHORN_KEY"]`,
    `print(resend.Emails.send(${JSON.stringify(mail, null, 4)}))`,
  ].join("\n");
  const panel = (text: string, label: string) => (
    <div className="pt-4">
      <CodeBlock text={text} label={label} />
    </div>
  );
  return (
    <Tabs
      label="The first mail by"
      tabs={[
        { value: "curl", label: "curl", content: panel(curl, "Command") },
        { value: "node", label: "Node", content: panel(node, "With the resend package") },
        { value: "python", label: "Python", content: panel(python, "With the resend package") },
      ]}
    />
  );
}
