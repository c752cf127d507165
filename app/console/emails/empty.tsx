"use client";

import { Button } from "../_ui/form/button";
import { Empty, NoMatch } from "../_ui/list/empty";
import { cardStyle } from "../_ui/styles";
import { CopyButton } from "../_ui/text/copy-button";
import { FIRST_EMAIL, formatCurl } from "../_ui/text/send-example";
import { When } from "../_ui/text/when";

/** The empty state before the first email, with the command that sends it. */
export function FirstEmailNote({ publicUrl }: { publicUrl: string }) {
  const curl = formatCurl(publicUrl, FIRST_EMAIL);
  return (
    <Empty title="No emails yet">
      <p className="max-w-prose">
        Send the first one to <code className="font-mono text-ink">delivered@backstamp.test</code>. This test
        address needs no mail server. The email appears in this list automatically.
      </p>
      <div className="flex w-full max-w-2xl items-start gap-2 rounded-lg bg-sunk p-3 text-left">
        <pre className="min-w-0 grow whitespace-pre-wrap break-words font-mono text-ink text-xs leading-5">
          {curl}
        </pre>
        <CopyButton text={curl} label="Copy command" />
      </div>
      <p className="max-w-prose text-xs leading-5">
        The startup output contains an API key or the path of the file that has it. To create another key:
        <code className="block font-mono">
          npm run -s backstamp -- key create --name first --scopes emails:send
        </code>
      </p>
    </Empty>
  );
}

export const NoResultsNote = ({ onClear }: { onClear: () => void }) => (
  <NoMatch title="No matching emails" onClear={onClear}>
    <p>Search by address, part of the subject, id, or tag:name=value.</p>
  </NoMatch>
);

type SearchLimitProps = { at: string; isEmpty: boolean; onContinue: () => void };

/** Shows how far a search went before it reached its limit, with a button to continue it. */
export const SearchLimit = ({ at, isEmpty, onContinue }: SearchLimitProps) => (
  <div
    role="status"
    className={`flex flex-wrap items-center justify-between gap-3 px-4 ${isEmpty ? `${cardStyle} py-10` : "mt-4"}`}
  >
    <p className="text-soft">
      {isEmpty ? "No results" : "No more results"} so far. Oldest email searched:{" "}
      <When at={at} className="text-ink" />. Older emails exist.
    </p>
    <Button isSmall onClick={onContinue}>
      Search older emails
    </Button>
  </div>
);
