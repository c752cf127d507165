"use client";

import { FileUp } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { defuseCell } from "#server/shared/text/csv-cell";
import type { ImportLine } from "#server/trpc/suppressions/files";
import { Dialog } from "../_ui/dialog/dialog";
import { DialogActions } from "../_ui/dialog/dialog-actions";
import { Button } from "../_ui/form/button";
import { download } from "../_ui/form/download";
import { FormFault } from "../_ui/form/form-fault";
import { buttonStyle } from "../_ui/styles";
import { AddressText } from "../_ui/text/address";
import { useTRPC } from "../_ui/trpc";
import { useAction } from "../_ui/use-action";
import { formatAdded } from "./add-suppressions";
import { ORIGIN_LABELS, ORIGINS } from "./filters";

const fileMaxBytes = 48 * 1024 * 1024;

/** Imports a CSV file. Shows the progress and the result. */
export function ImportSuppressions({ teamId, onClose }: { teamId: string; onClose: () => void }) {
  const trpc = useTRPC();
  const [progress, setProgress] = useState<Progress | null>(null);
  const abortOnClose = useRef<AbortController>(null);
  useEffect(() => () => abortOnClose.current?.abort(), []);
  const upload = async (file: File) => {
    if (file.size > fileMaxBytes)
      throw errorOf("The file is larger than 48 MB. Split it into several files.");
    const controller = new AbortController();
    abortOnClose.current = controller;
    setProgress({ step: "sending", done: 0, of: file.size });
    const url = `/console/suppressions/import?team=${encodeURIComponent(teamId)}`;
    return uploadFile(url, file, setProgress, controller.signal);
  };
  const refresh = [trpc.suppressions.list.queryKey()];
  const { run, isBusy, result, fault } = useAction({ mutationFn: upload }, { refresh });

  return (
    <Dialog
      onOpenChange={onClose}
      isPersistent={isBusy}
      title="Import suppressions"
      description="A CSV file with the addresses in the first column, or in the column named email. Reasons and dates are read in the form of our export and of other services. Up to 100,000 lines. If the import fails, no address is added."
    >
      {isBusy && progress ? <ProgressBar progress={progress} /> : null}
      {result ? <Result imported={result} /> : null}
      <FormFault fault={fault} />
      {isBusy ? null : (
        <DialogActions>
          <Button onClick={onClose}>{result ? "Done" : "Cancel"}</Button>
          <label
            className={`${buttonStyle[result ? "plain" : "primary"]} h-10 cursor-pointer has-focus-visible:outline-2 has-focus-visible:outline-accent has-focus-visible:outline-offset-2`}
          >
            <FileUp className="size-4" />
            {result ? "Import another file" : "Choose file"}
            <input
              type="file"
              accept=".csv,.txt,text/csv,text/plain"
              className="sr-only"
              onChange={({ target }) => {
                const [file] = target.files ?? [];
                target.value = "";
                if (file) run(file);
              }}
            />
          </label>
        </DialogActions>
      )}
    </Dialog>
  );
}

const STEPS = { sending: "Uploading the file", writing: "Adding addresses" };

function ProgressBar({ progress: { step, done, of } }: { progress: Progress }) {
  // The upload is complete. The progress is indeterminate until the server adds addresses.
  const isReading = step === "sending" && done >= of;
  const label = isReading ? "Reading the file" : STEPS[step];
  const percent = of === 0 ? 0 : Math.round((done / of) * 100);
  return (
    <div className="flex flex-col gap-2" role="status">
      <p className="flex justify-between gap-4">
        {label}
        <span className="text-soft tabular-nums">
          {step === "writing" ? `${done.toLocaleString("en")} of ${of.toLocaleString("en")}` : `${percent}%`}
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

function Result({ imported }: { imported: Imported }) {
  const { faulty, faults } = imported;
  const notes = formatNotes(imported);
  return (
    <div role="status" className="flex flex-col gap-3">
      <p className="rounded-lg bg-good-tint px-3.5 py-2.5 text-good leading-6">{formatAdded(imported)}.</p>
      {notes.length > 0 ? (
        <ul className="flex flex-col gap-1 text-soft leading-6">
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      ) : null}
      {faulty > 0 ? (
        <div className="rounded-lg bg-warn-tint px-3.5 py-2.5 text-warn leading-6">
          <p className="flex flex-wrap items-center justify-between gap-2">
            <span>
              {faulty.toLocaleString("en")} {faulty === 1 ? "invalid line was" : "invalid lines were"}{" "}
              skipped.
            </span>
            <button
              type="button"
              onClick={() => download(rejectedLinesFile(faults), "rejected-lines.csv")}
              className="rounded font-medium underline underline-offset-4"
            >
              Download
            </button>
          </p>
          <ul className="mt-1 text-xs">
            {faults.slice(0, listedMax).map(({ line, message }) => (
              <li key={line} className="break-words">
                Line {line}: <AddressText>{message.replaceAll("`", "")}</AddressText>
              </li>
            ))}
            {faulty > listedMax ? (
              <li>
                And {(faulty - listedMax).toLocaleString("en")} more.
                {faulty > faults.length
                  ? ` The download has the first ${faults.length.toLocaleString("en")}.`
                  : null}
              </li>
            ) : null}
          </ul>
        </div>
      ) : null}
    </div>
  );
}

/** What the import did, beside the number of addresses. */
function formatNotes({ added, addedBy, repeated, unknownReasons, unreadDates }: Imported): string[] {
  const origins = ORIGINS.filter((origin) => addedBy[origin] > 0).map(
    (origin) => `${ORIGIN_LABELS[origin].label} ${addedBy[origin].toLocaleString("en")}`,
  );
  return [
    added > 0 ? `Added by origin: ${origins.join(", ")}.` : "",
    repeated > 0 ? `Lines with the address of another line: ${repeated.toLocaleString("en")}.` : "",
    unknownReasons > 0
      ? `Lines whose reason is not known, imported as Manual: ${unknownReasons.toLocaleString("en")}.`
      : "",
    unreadDates > 0
      ? `Lines whose date cannot be read, imported with the current time: ${unreadDates.toLocaleString("en")}.`
      : "",
  ].filter(Boolean);
}

const listedMax = 20;

/** The progress of an import: bytes uploaded, then addresses written. */
type Progress = { step: "sending" | "writing"; done: number; of: number };
type Imported = Extract<ImportLine, { done: unknown }>["done"];
type Rejection = Extract<ImportLine, { error: unknown }>;

const LOST =
  "The connection was lost, and the addresses may not have been added. Check the list before you try again.";

/** An error in the shape of those of other calls. */
const errorOf = (message: string, data: object = {}) => Object.assign(new Error(message), { data });

/**
 * Uploads a file and reports the progress. Uses `XMLHttpRequest`, because `fetch` reports no upload progress.
 * `signal` aborts the upload. Until the last line of the response arrives, either no address or all addresses
 * are written.
 */
function uploadFile(
  url: string,
  file: File,
  onProgress: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<Imported> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    let readChars = 0;
    const readLines = () => {
      const lineEnd = request.responseText.lastIndexOf("\n") + 1;
      const lines = request.responseText.slice(readChars, lineEnd).split("\n").filter(Boolean);
      readChars = lineEnd;
      for (const line of lines) {
        const message = JSON.parse(line) as ImportLine;
        if ("written" in message) onProgress({ step: "writing", done: message.written, of: message.of });
        else if ("done" in message) resolve(message.done);
        else reject(errorOf(message.error.message, message.error.data));
      }
    };
    request.upload.onprogress = ({ loaded, total }) =>
      onProgress({ step: "sending", done: loaded, of: total });
    request.onprogress = () => {
      if (request.status === 200) readLines();
    };
    request.onload = () => {
      if (request.status === 200) readLines();
      // After a result this changes nothing.
      reject(request.status === 200 ? errorOf(LOST) : parseRejection(request.responseText));
    };
    request.onerror = () => reject(errorOf(LOST));
    signal.addEventListener("abort", () => request.abort());
    request.onabort = () => reject(errorOf("Upload canceled."));
    request.open("POST", url);
    request.setRequestHeader("content-type", "text/csv");
    request.send(file);
  });
}

function parseRejection(text: string): Error {
  try {
    const { error } = JSON.parse(text) as Rejection;
    return errorOf(error.message, error.data);
  } catch {
    return errorOf(LOST);
  }
}

const cell = (text: string): string => `"${defuseCell(text).replaceAll('"', '""')}"`;

/** The rejected lines of an import as a CSV file with line numbers and reasons. */
export function rejectedLinesFile(faults: readonly { line: number; message: string }[]): Blob {
  const lines = [["line", "reason"], ...faults.map(({ line, message }) => [String(line), message])];
  return new Blob([lines.map((cells) => `${cells.map(cell).join(",")}\r\n`).join("")], {
    type: "text/csv;charset=utf-8",
  });
}
