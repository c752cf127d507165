"use client";

export type Pane = "write" | "preview" | "variables";

type Props = { pane: Pane; variables: number; onChange: (pane: Pane) => void };

/** On narrow screens, switches between the three panes of the editor. */
export function PaneSwitch({ pane, variables, onChange }: Props) {
  const panes = [
    { value: "write", label: "Edit" },
    { value: "preview", label: "Preview" },
    { value: "variables", label: `Variables ${variables || ""}`.trim() },
  ] as const;
  return (
    <fieldset className="mb-4 grid grid-cols-3 gap-1 rounded-lg bg-mute-tint p-1 xl:hidden">
      <legend className="sr-only">View</legend>
      {panes.map(({ value, label }) => (
        <button
          key={value}
          type="button"
          aria-pressed={pane === value}
          onClick={() => onChange(value)}
          className={`min-h-9 rounded-md font-medium max-md:min-h-11 ${pane === value ? "bg-page text-ink shadow-sm" : "text-soft hover:text-ink"}`}
        >
          {label}
        </button>
      ))}
    </fieldset>
  );
}
