import type { EmailView } from "#server/trpc/emails/views";

/** The headers of the message, as submitted. */
export function MessageHeaders({ email }: { email: EmailView }) {
  const lines: [string, string][] = [
    ["From", email.sender],
    ["To", email.to.join(", ")],
    ["Cc", email.cc.join(", ")],
    ["Bcc", email.bcc.join(", ")],
    ["Reply-To", email.replyTo.join(", ")],
    ["Subject", email.subject],
    ["Message-ID", `<${email.messageId}>`],
    ...email.headers.map(({ name, value }): [string, string] => [name, value]),
  ];
  return (
    <dl className="divide-y divide-line">
      {lines
        .filter(([, value]) => value !== "")
        // Header names can repeat, so the key is the index.
        .map(([name, value], index) => ({ name, value, key: `${index}` }))
        .map(({ name, value, key }) => (
          <div key={key} className="grid gap-x-4 px-4 py-2.5 sm:grid-cols-[8rem_minmax(0,1fr)]">
            <dt className="wrap-anywhere text-soft">{name}</dt>
            <dd className="break-words">{value}</dd>
          </div>
        ))}
    </dl>
  );
}
