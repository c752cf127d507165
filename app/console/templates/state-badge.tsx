import { Badge } from "../_ui/badge";

type Props = { currentNumber: number; publishedNumber: number | null };

/** Whether sends use what the editor shows. */
export function TemplateStateBadge({ currentNumber, publishedNumber }: Props) {
  if (publishedNumber === null)
    return (
      <Badge tone="mute" title="Nothing can be sent with it before it is published">
        Draft
      </Badge>
    );
  if (publishedNumber === currentNumber)
    return (
      <Badge tone="good" title={`Sends use version ${publishedNumber}`}>
        Published
      </Badge>
    );
  return (
    <Badge
      tone="info"
      title={`Sends use version ${publishedNumber}; version ${currentNumber} waits to be published`}
    >
      Draft ahead
    </Badge>
  );
}
