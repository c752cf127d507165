// Touch targets are at least 44 px high, which two lines of a long label need on the narrowest phones.
const button =
  "inline-flex items-center justify-center gap-2 whitespace-nowrap rounded-lg font-medium max-[22.5rem]:whitespace-normal motion-safe:transition-colors disabled:cursor-default aria-disabled:cursor-default max-md:min-h-11 print:hidden";

const faded = "disabled:opacity-60 aria-disabled:opacity-60";
/** The text of a faded button with a background of its own would be hard to read. */
const grayed = "disabled:bg-mute-tint disabled:text-mute aria-disabled:bg-mute-tint aria-disabled:text-mute";

/** Button styles by importance. The caller adds height and width. */
export const buttonStyle = {
  primary: `${button} ${grayed} bg-accent text-on-accent hover:bg-accent-strong px-4`,
  plain: `${button} ${faded} border border-line bg-page hover:bg-sunk px-3`,
  quiet: `${button} ${faded} text-soft hover:bg-sunk hover:text-ink px-2`,
  /** Confirms an action that cannot be undone. */
  danger: `${button} ${grayed} bg-bad text-page hover:opacity-90 px-4`,
} as const;

/** An icon button: drawn at 32 px, with a touch target of 44 px that does not affect the layout. */
export const iconButtonStyle =
  "relative inline-flex size-8 shrink-0 items-center justify-center rounded-lg text-soft motion-safe:transition-colors hover:bg-mute-tint hover:text-ink disabled:cursor-default disabled:opacity-60 aria-disabled:cursor-default aria-disabled:opacity-60 max-md:after:absolute max-md:after:-inset-1.5 max-md:after:content-[''] print:hidden";

/** A link within text. */
export const linkStyle = "rounded text-accent underline underline-offset-4 hover:text-accent-strong";

const field =
  "w-full rounded-lg border border-field bg-page font-normal text-base text-ink placeholder:text-soft aria-invalid:border-bad disabled:bg-sunk disabled:text-soft md:text-sm";

/** A text field. The font size is 16 px on phones, because they zoom in on focus when it is smaller. */
export const fieldStyle = `${field} h-11 px-3 md:h-10`;

/** A multi-line text field. */
export const areaStyle = `${field} min-h-24 px-3 py-2 leading-6`;

/** A card. */
export const cardStyle = "rounded-xl border border-line bg-page";
