import type { EmailView } from "#server/trpc/email-views";

/** What stands above the message, as it was given. */
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
        // A header may stand twice, so its place is its name.
        .map(([name, value], place) => ({ name, value, place: `${place}` }))
        .map(({ name, value, place }) => (
          <div key={place} className="grid gap-x-4 px-4 py-2.5 sm:grid-cols-[8rem_minmax(0,1fr)]">
            <dt className="wrap-anywhere text-soft">{name}</dt>
            <dd className="break-words">{value}</dd>
          </div>
        ))}
    </dl>
  );
}
