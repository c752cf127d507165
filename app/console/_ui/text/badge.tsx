import type { ReactNode } from "react";
import { STATUSES, type Status } from "#server/shared/email-words";
import type { Tone } from "./statuses";

/** The background and the text in each color. */
export const TONES: Record<Tone, string> = {
  good: "bg-good-tint text-good",
  bad: "bg-bad-tint text-bad",
  warn: "bg-warn-tint text-warn",
  info: "bg-info-tint text-info",
  mute: "bg-mute-tint text-mute",
};

type Props = {
  tone: Tone;
  /** A sentence that explains the badge, shown on hover. */
  title?: string | undefined;
  children: ReactNode;
};

/** One word with a color. The color never carries information that the word does not. */
export const Badge = ({ tone, title, children }: Props) => (
  <span
    title={title}
    className={`inline-flex h-6 max-w-full items-center gap-1 whitespace-nowrap rounded-md px-2 font-medium text-xs ${TONES[tone]}`}
  >
    {children}
  </span>
);

/** How a state is displayed: its badge, and a sentence that explains it on hover. */
export type Label = { label: string; tone: Tone; description?: string };

export const LabelBadge = ({ label, tone, description }: Label) => (
  <Badge tone={tone} title={description}>
    {label}
  </Badge>
);

/** The status of an email or of a recipient. */
export const StatusBadge = ({ status }: { status: Status }) => <LabelBadge {...STATUSES[status]} />;
