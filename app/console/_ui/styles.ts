const button =
  "inline-flex items-center justify-center gap-2 rounded-lg font-medium motion-safe:transition-colors disabled:opacity-60 disabled:cursor-default";

/** How a button looks, by how much it matters. Height and width are the place's. */
export const buttonStyle = {
  primary: `${button} bg-accent text-on-accent hover:bg-accent-strong px-4`,
  plain: `${button} border border-line bg-page hover:bg-sunk px-3`,
  quiet: `${button} text-soft hover:bg-sunk hover:text-ink px-2`,
} as const;

/** How a field looks. 16 px on phones: below that they zoom in when it gets the focus. */
export const fieldStyle =
  "h-10 w-full rounded-lg border border-field bg-page px-3 font-normal text-base text-ink placeholder:text-soft md:text-sm";

/** A box that holds one matter. */
export const cardStyle = "rounded-xl border border-line bg-page";
