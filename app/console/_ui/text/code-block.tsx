import { CopyButton } from "./copy-button";
import { formatJson } from "./format-json";

type Props = {
  text: string;
  /** What the text is: "Request", "DKIM record". */
  label: string;
  /** The language of the text, shown at the right. Omit it where it is obvious. */
  language?: string;
};

/** Machine-readable text with a copy button. Long lines wrap, so there is no horizontal scrolling. */
export const CodeBlock = ({ text, label, language }: Props) => (
  <figure className="min-w-0 overflow-hidden rounded-lg border border-line bg-sunk text-left">
    <figcaption className="flex h-10 items-center gap-2 border-line border-b pr-1 pl-3 text-soft text-xs">
      <span className="mr-auto truncate font-medium">{label}</span>
      {language ? <span>{language}</span> : null}
      <CopyButton text={text} label={`Copy: ${label}`} />
    </figcaption>
    <pre className="whitespace-pre-wrap break-words p-3 font-mono text-ink text-xs leading-5 [overflow-wrap:anywhere]">
      {text}
    </pre>
  </figure>
);

/** A request or response body: JSON is indented, any other text is unchanged. */
export function BodyBlock({ text, label }: Pick<Props, "text" | "label">) {
  const json = formatJson(text);
  return json === null ? (
    <CodeBlock text={text} label={label} />
  ) : (
    <CodeBlock text={json} label={label} language="JSON" />
  );
}
