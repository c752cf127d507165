"use client";

import { CopyButton } from "../_ui/copy-button";
import { NoMatch } from "../_ui/empty";
import { EmptyNote } from "../_ui/notes";
import { curlCall, FIRST_MAIL } from "../_ui/send-call";
import { cardStyle } from "../_ui/styles";

/** Before the first mail: how to send it. */
export function FirstMailNote({ publicUrl }: { publicUrl: string }) {
  const curl = curlCall(publicUrl, FIRST_MAIL);
  return (
    <div className={cardStyle}>
      <EmptyNote title="No mail yet">
        <p className="max-w-prose">
          Send the first one to <code className="font-mono text-ink">delivered@posthorn.test</code>, which
          answers here and needs no mail server. It shows up in this list by itself.
        </p>
        <div className="flex w-full max-w-2xl items-start gap-2 rounded-lg bg-sunk p-3 text-left">
          <pre className="min-w-0 grow whitespace-pre-wrap break-words font-mono text-ink text-xs leading-5">
            {curl}
          </pre>
          <CopyButton text={curl} label="Copy the command" />
        </div>
        <p className="max-w-prose text-xs leading-5">
          The start printed a key, or says where it is kept. Another one:
          <code className="block font-mono">
            npm run -s posthorn -- key create --name first --scopes emails:send
          </code>
        </p>
      </EmptyNote>
    </div>
  );
}

export function NoMatchNote({ onClear }: { onClear: () => void }) {
  return (
    <NoMatch title="No mail matches" onClear={onClear}>
      <p>Search by an address, a part of a subject, an id, or tag:name=value.</p>
    </NoMatch>
  );
}
