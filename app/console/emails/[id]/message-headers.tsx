import type { EmailView } from "#server/trpc/emails/views";

/** The headers of the message, as submitted. */
export function MessageHeaders({ email }: { email: EmailView }) {
  const lines: [string, string][] = [
    ["From", email.from],
    ["To", email.to.join(", ")],
    ["Cc", email.cc.join(", ")],
    ["Bcc", email.bcc.join(", ")],
    ["Reply-To", email.reply_to.join(", ")],
    ["Subject", email.subject],
    ["Message-ID", email.message_id],
    ...Object.entries(email.headers),
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
