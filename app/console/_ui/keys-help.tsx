"use client";

import { DialogFrame } from "./dialog-frame";
import { Key } from "./pager";
import { PAGES, REFERENCE } from "./pages";

const ANYWHERE = [
  [["Ctrl", "K"], "Search and commands"],
  [["/"], "Search on this page"],
  [["?"], "These keys"],
] as const;
const LISTS = [
  [["j"], "Next row"],
  [["k"], "Row before"],
  [["Enter"], "Open the row"],
  [["o"], "Open the row as well"],
  [["x"], "Choose the mail, or not"],
  [["Shift", "x"], "Choose all up to here"],
] as const;

/** All keys of the console. */
export function KeysHelp({ onClose }: { onClose: () => void }) {
  return (
    <DialogFrame
      open
      onOpenChange={onClose}
      title="Keys"
      description="Where you type, and in dialogs, letters stay letters. On a Mac, Cmd stands for Ctrl."
    >
      <div className="grid gap-x-10 gap-y-6 sm:grid-cols-2">
        <div className="flex flex-col gap-6">
          <Group title="Anywhere" keys={ANYWHERE} />
          <Group title="In lists" keys={LISTS} />
        </div>
        <Group
          title="Go to"
          keys={[...PAGES, REFERENCE].map(({ key, label }) => [["g", key], label] as const)}
        />
      </div>
    </DialogFrame>
  );
}

type GroupProps = { title: string; keys: readonly (readonly [readonly string[], string])[] };

function Group({ title, keys }: GroupProps) {
  return (
    <section>
      <h3 className="mb-2 text-soft text-xs">{title}</h3>
      <dl className="flex flex-col gap-2">
        {keys.map(([presses, does]) => (
          <div key={does} className="flex items-center justify-between gap-4">
            <dt>{does}</dt>
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
}
