import { Badge } from "../_ui/text/badge";

type Props = { currentNumber: number; publishedNumber: number | null };

/** Whether the version in the editor is published. */
export function TemplateStateBadge({ currentNumber, publishedNumber }: Props) {
  if (publishedNumber === null)
    return (
      <Badge tone="mute" title="Not published. Publish it before you send it.">
        Draft
      </Badge>
    );
  if (publishedNumber === currentNumber)
    return (
      <Badge tone="good" title={`Version ${publishedNumber} is published`}>
        Published
      </Badge>
    );
  return (
    <Badge
      tone="info"
      title={`Version ${publishedNumber} is published. Version ${currentNumber} is a draft.`}
    >
      New draft
    </Badge>
  );
}
