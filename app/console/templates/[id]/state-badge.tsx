import type { TemplateRow } from "#server/trpc/templates/templates";
import { LabelBadge } from "../../_ui/text/badge";

type Numbers = Pick<TemplateRow, "currentNumber" | "publishedNumber">;

/** Whether the version in the editor is published. */
export function TemplateStateBadge({ currentNumber, publishedNumber }: Numbers) {
  if (publishedNumber === null)
    return (
      <LabelBadge tone="mute" label="Draft" description="Not published. Publish it before you send it." />
    );
  const description = `Version ${publishedNumber} is published`;
  if (publishedNumber === currentNumber)
    return <LabelBadge tone="good" label="Published" description={description} />;
  const both = `${description}. Version ${currentNumber} is a draft.`;
  return <LabelBadge tone="info" label="New draft" description={both} />;
}
