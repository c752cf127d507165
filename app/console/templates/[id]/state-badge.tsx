import type { TemplateRow } from "#server/trpc/templates/templates";
import { Badge } from "../../_ui/text/badge";

type Numbers = Pick<TemplateRow, "currentNumber" | "publishedNumber">;

/** Whether the version in the editor is published. */
export function TemplateStateBadge({ currentNumber, publishedNumber }: Numbers) {
  const { tone, label, title } = stateOf({ currentNumber, publishedNumber });
  return (
    <Badge tone={tone} title={title}>
      {label}
    </Badge>
  );
}

function stateOf({ currentNumber, publishedNumber }: Numbers) {
  if (publishedNumber === null)
    return { tone: "mute", label: "Draft", title: "Not published. Publish it before you send it." } as const;
  const title = `Version ${publishedNumber} is published`;
  return publishedNumber === currentNumber
    ? ({ tone: "good", label: "Published", title } as const)
    : ({
        tone: "info",
        label: "New draft",
        title: `${title}. Version ${currentNumber} is a draft.`,
      } as const);
}
