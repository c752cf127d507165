import type { ReactNode } from "react";

/**
 * An address on one line: it moves to the next line as a whole, and breaks only where it is longer than a
 * line.
 */
export const Address = ({ children }: { children: string }) => (
  <span className="inline-block max-w-full break-words">{children}</span>
);

/** An address in a table that is never shortened: a long one continues after its "@" or before a dot. */
export const WholeAddress = ({ children }: { children: string }) => (
  <span className="block whitespace-normal wrap-anywhere">
    <Breakable text={children} at={/(?<=@)|(?=\.)/} />
  </span>
);

/** A URL that wraps after its slashes, and inside a word only if that is not enough. */
export const BreakableUrl = ({ children }: { children: string }) => (
  <span className="wrap-anywhere">
    <Breakable text={children} at={/(?<=\w\/)/} />
  </span>
);

const Breakable = ({ text, at }: { text: string; at: RegExp }) =>
  text.split(at).flatMap((part, place) => {
    const key = `${place}`;
    return [part, <wbr key={key} />];
  });

/** A text with its addresses on one line each, such as a reply of a mail server. */
export const AddressText = ({ children }: { children: string }) =>
  // The odd parts are the words with an "@". A text does not change its order, so the place identifies them.
  children.split(/((?<!\S)\S*@\S*)/).map((part, place) => {
    const key = `${place}`;
    return place % 2 === 1 ? <Address key={key}>{part}</Address> : part;
  });

/** What is code in a message: text in backticks, settings, and a command after "run" or a colon. */
const CODE =
  /`([^`]+)`|\b([A-Z]+(?:_[A-Z0-9]+)+(?:=[\w-]+)?|(?:capture|direct):(?=[,.]| |$))|(?<=\b[Rr]un |: )((?:npm run -s )?backstamp(?: [\w-]+(?:[.@][\w-]+)*)+)/;

const codeGroups = 3;

/** The text of a message in pieces, each of which is code or is not. */
export const splitCode = (message: string): { text: string; isCode: boolean }[] =>
  message.split(CODE).flatMap((text, place) => (text ? { text, isCode: place % (codeGroups + 1) > 0 } : []));

/** A message of the server, with its settings and commands as code and each address on one line. */
export const MessageText = ({ children }: { children: string }): ReactNode =>
  splitCode(children).map(({ text, isCode }, place) => {
    // A message does not change its order, so the place identifies the piece.
    const key = `${place}`;
    if (!isCode) return <AddressText key={key}>{text}</AddressText>;
    return (
      <code key={key} className="wrap-anywhere">
        {text}
      </code>
    );
  });
