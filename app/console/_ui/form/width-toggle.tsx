import { Monitor, Smartphone } from "lucide-react";
import { buttonStyle } from "../styles";
import { Toggle } from "./toggle";

const OPTIONS = [
  { value: "desktop", label: "Desktop width", content: <Monitor className="size-4" /> },
  { value: "mobile", label: "Phone width", content: <Smartphone className="size-4" /> },
] as const;

export type Width = (typeof OPTIONS)[number]["value"];

/** Selects the width of an email's preview. */
export const WidthToggle = ({ value, onChange }: { value: Width; onChange: (width: Width) => void }) => (
  <Toggle
    label="Width"
    value={value}
    options={OPTIONS}
    onChange={onChange}
    className="gap-1"
    itemClassName={`${buttonStyle.quiet} size-8 px-0 aria-pressed:bg-mute-tint aria-pressed:text-ink max-md:size-11`}
  />
);
