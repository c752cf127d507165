"use client";

import { useQueryClient } from "@tanstack/react-query";
import { FileUp } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Dialog, DialogActions } from "../_ui/dialog";
import { FormFault } from "../_ui/form-fault";
import { buttonStyle } from "../_ui/styles";
import { useTRPC } from "../_ui/trpc";
import { faultsFile } from "./faults-file";
import { sayAdded } from "./outcome";
import { type Ending, type Progress, sendFile } from "./send-file";

const fileMaxBytes = 48 * 1024 * 1024;
const TOO_LARGE = {
  message: "The file has more than 48 MB. Cut it into several.",
  code: null,
  requestId: null,
};

/** Takes a CSV file, shows how far it is, and what came of it. */
export function ImportSuppressions({ teamId, onClose }: { teamId: string; onClose: () => void }) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const [progress, setProgress] = useState<Progress | null>(null);
  const [ending, setEnding] = useState<Ending | null>(null);
  const leaving = useRef<AbortController>(null);
  useEffect(() => () => leaving.current?.abort(), []);
  const isRunning = progress !== null && ending === null;

  const start = async (file: File) => {
    if (file.size > fileMaxBytes) return setEnding({ ok: false, fault: TOO_LARGE });
    const controller = new AbortController();
    leaving.current = controller;
    setEnding(null);
    setProgress({ step: "sending", done: 0, of: file.size });
    const url = `/console/suppressions/import?team=${encodeURIComponent(teamId)}`;
    setEnding(await sendFile(url, file, setProgress, controller.signal));
    void queries.invalidateQueries({ queryKey: trpc.suppressions.list.queryKey() });
  };

  return (
    <Dialog
      open
      onOpenChange={onClose}
      isKept={isRunning}
      title="Import suppressions"
      description="A CSV file with the addresses in its first column, or in the one that its first line calls email. Up to 100,000 lines; all of them are written, or none."
    >
      {isRunning ? <ProgressBar progress={progress} /> : null}
      {ending?.ok ? <Result imported={ending.imported} /> : null}
      <FormFault fault={ending && !ending.ok ? ending.fault : null} />
      {isRunning ? null : (
        <DialogActions>
          <button type="button" onClick={onClose} className={`${buttonStyle.plain} h-10`}>
            {ending?.ok ? "Done" : "Cancel"}
          </button>
          <label
            className={`${buttonStyle[ending?.ok ? "plain" : "primary"]} h-10 cursor-pointer has-focus-visible:outline-2 has-focus-visible:outline-accent has-focus-visible:outline-offset-2`}
          >
            <FileUp className="size-4" aria-hidden="true" />
            {ending?.ok ? "Another file" : "Choose a file"}
            <input
              type="file"
              accept=".csv,.txt,text/csv,text/plain"
              className="sr-only"
              onChange={({ target }) => {
                const [file] = target.files ?? [];
                target.value = "";
                if (file) void start(file);
              }}
            />
          </label>
        </DialogActions>
      )}
    </Dialog>
  );
}

const STEPS = { sending: "Sending the file", writing: "Writing addresses" };

function ProgressBar({ progress: { step, done, of } }: { progress: Progress }) {
  // The file is sent, and is being read: there is nothing to count until its addresses are written.
  const isReading = step === "sending" && done >= of;
  const label = isReading ? "Reading the file" : STEPS[step];
  const percent = of === 0 ? 0 : Math.round((done / of) * 100);
  return (
    <div className="flex flex-col gap-2" role="status">
      <p className="flex justify-between gap-4">
        {label}
        <span className="text-soft tabular-nums">
          {step === "writing" ? `${done.toLocaleString("en")} of ${of.toLocaleString("en")}` : `${percent} %`}
        </span>
      </p>
      <progress
        aria-label={label}
        max={100}
        {...(isReading ? {} : { value: percent })}
        className="h-2 w-full accent-accent"
      />
    </div>
  );
}

function Result({ imported }: { imported: Extract<Ending, { ok: true }>["imported"] }) {
  const { faulty, faults } = imported;
  return (
    <div role="status" className="flex flex-col gap-3">
      <p className="rounded-lg bg-good-tint px-3.5 py-2.5 text-good leading-6">{sayAdded(imported)}.</p>
      {faulty > 0 ? (
        <div className="rounded-lg bg-warn-tint px-3.5 py-2.5 text-warn leading-6">
          <p className="flex flex-wrap items-center justify-between gap-2">
            <span>
              {faulty.toLocaleString("en")} {faulty === 1 ? "line holds" : "lines hold"} no address and{" "}
              {faulty === 1 ? "was" : "were"} left out.
            </span>
            <button
              type="button"
              onClick={() => download(faultsFile(faults), "refused-lines.csv")}
              className="rounded font-medium underline underline-offset-4"
            >
              Download them
            </button>
          </p>
          <ul className="mt-1 max-h-40 overflow-y-auto text-xs">
            {faults.slice(0, shownMax).map(({ line, message }) => (
              <li key={line} className="break-words">
                Line {line}: {message}
              </li>
            ))}
          </ul>
        </div>
      ) : null}
    </div>
  );
}

const shownMax = 20;

function download(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
