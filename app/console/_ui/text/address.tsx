import { Fragment, type ReactNode } from "react";

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

function Breakable({ text, at }: { text: string; at: RegExp }) {
  let end = 0;
  return text.split(at).map((part) => {
    end += part.length;
    return (
      <Fragment key={end}>
        {part}
        <wbr />
      </Fragment>
    );
  });
}

/** A text with its addresses on one line each, such as a reply of a mail server. */
export const AddressText = ({ children }: { children: string }) => {
  if (!children.includes("@")) return children;
  const words = children.split(" ");
  return words.map((word, place) => {
    const space = place < words.length - 1 ? " " : "";
    // A text does not change its order, so the place identifies the word.
    const key = `${place}`;
    return word.includes("@") ? (
      <span key={key}>
        <Address>{word}</Address>
        {space}
      </span>
    ) : (
      `${word}${space}`
    );
  });
};

/** What is code in a message: text in backticks, settings, and a command after "run" or a colon. */
const CODE =
  /`([^`]+)`|\b([A-Z]+(?:_[A-Z0-9]+)+(?:=[\w-]+)?|(?:capture|direct):(?=[,.]| |$))|(?<=\b[Rr]un |: )((?:npm run -s )?backstamp(?: [\w-]+(?:[.@][\w-]+)*)+)/;

/** The text of a message in pieces, each of which is code or is not. */
export function splitCode(message: string): { text: string; isCode: boolean }[] {
  const found = CODE.exec(message);
  if (!found) return message === "" ? [] : [{ text: message, isCode: false }];
  return [
    ...splitCode(message.slice(0, found.index)),
    { text: found[1] ?? found[2] ?? found[3] ?? "", isCode: true },
    ...splitCode(message.slice(found.index + found[0].length)),
  ];
}

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
