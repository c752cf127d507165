"use client";

import { DialogFrame } from "../dialog/dialog-frame";
import { Button } from "../form/button";
import { Key } from "../list/pager";
import { DOCUMENTS } from "../shell/pages";
import { usePages } from "../shell/use-pages";

const ANYWHERE = [
  [["Ctrl", "K"], "Search and commands"],
  [["/"], "Search on this page"],
  [["?"], "Keyboard shortcuts"],
] as const;
const LISTS = [
  [["j"], "Next row"],
  [["k"], "Previous row"],
  [["Enter"], "Open row"],
  [["o"], "Open row (alternative)"],
  [["Esc"], "Back to the list"],
  [["x"], "Select or deselect email"],
  [["Shift", "x"], "Select up to here"],
] as const;

/** The list of all keyboard shortcuts. */
export const KeysHelp = ({ onClose }: { onClose: () => void }) => (
  <DialogFrame
    open
    onOpenChange={onClose}
    title="Keyboard shortcuts"
    description="Shortcuts are inactive in text fields and dialogs. On a Mac, press Cmd instead of Ctrl."
    footer={<Button onClick={onClose}>Done</Button>}
  >
    <div className="grid gap-x-10 gap-y-6 sm:grid-cols-2">
      <div className="flex flex-col gap-6">
        <Group title="Anywhere" keys={ANYWHERE} />
        <Group title="In lists" keys={LISTS} />
      </div>
      <Group
        title="Go to"
        keys={[...usePages(), ...DOCUMENTS].map(({ key, label }) => [["g", key], label] as const)}
      />
    </div>
  </DialogFrame>
);

type GroupProps = { title: string; keys: readonly (readonly [readonly string[], string])[] };

const Group = ({ title, keys }: GroupProps) => (
  <section>
    <h3 className="mb-2 text-soft text-xs">{title}</h3>
    <dl className="flex flex-col gap-2">
      {keys.map(([presses, action]) => (
        <div key={action} className="flex items-center justify-between gap-4">
          <dt>{action}</dt>
          <dd className="flex gap-0.5">
            {presses.map((press) => (
              <Key key={press}>{press}</Key>
            ))}
          </dd>
        </div>
      ))}
    </dl>
  </section>
);
