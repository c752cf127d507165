"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { Dialog } from "../_ui/dialog";
import { faultOf } from "../_ui/fault";
import { CheckboxField } from "../_ui/form";
import { FormFault } from "../_ui/form-fault";
import { STATUSES } from "../_ui/statuses";
import { buttonStyle } from "../_ui/styles";
import { useTRPC } from "../_ui/trpc";
import { type EmailFilters, filterInput } from "./filters";

type Props = {
  teamId: string;
  filters: EmailFilters;
  open: boolean;
  onOpenChange: (open: boolean) => void;
};
type Done = { mails: number; recipients: number };

const NONE: Done = { mails: 0, recipients: 0 };
const mails = (count: number, more = false) =>
  `${count.toLocaleString("en")}${more ? "+" : ""} ${count === 1 && !more ? "mail" : "mails"}`;

/** Sends again all that the filters find and that failed: says first how many, then how far it is, then what it came to. */
export function RetryMatching({ teamId, filters, open, onOpenChange }: Props) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const isUnknownAsked = filters.status === "unknown";
  const [takesUnknown, setTakesUnknown] = useState(false);
  const acceptDuplicates = takesUnknown || isUnknownAsked;
  const input = { team: teamId, ...filterInput(filters), acceptDuplicates };
  const { data, error } = useQuery(
    trpc.emails.countRetryable.queryOptions(input, { enabled: open, staleTime: 0, retry: false }),
  );
  const step = useMutation(trpc.emails.retryMatching.mutationOptions());
  const [walk, setWalk] = useState<"before" | "under way" | "over">("before");
  const [done, setDone] = useState(NONE);
  const isStopped = useRef(false);

  const run = async () => {
    isStopped.current = false;
    setDone(NONE);
    setWalk("under way");
    let sum = NONE;
    let after: string | null = null;
    try {
      do {
        const answer: Done & { next: string | null } = await step.mutateAsync({
          ...input,
          ...(after === null ? {} : { after }),
        });
        sum = { mails: sum.mails + answer.mails, recipients: sum.recipients + answer.recipients };
        setDone(sum);
        after = answer.next;
      } while (after !== null && !isStopped.current);
    } catch {
      // Shown below, beside what was done before it.
    }
    setWalk("over");
    await queries.invalidateQueries({ queryKey: trpc.emails.pathKey() });
  };
  const close = (isOpen: boolean) => {
    if (isOpen) return;
    isStopped.current = true;
    onOpenChange(false);
    setWalk("before");
    step.reset();
  };
  const fault = step.error ?? error;
  const footer =
    walk === "over" ? (
      <button type="button" onClick={() => close(false)} className={`${buttonStyle.primary} h-10`}>
        Done
      </button>
    ) : walk === "under way" ? (
      <button
        type="button"
        onClick={() => {
          isStopped.current = true;
        }}
        className={`${buttonStyle.plain} h-10`}
      >
        Stop
      </button>
    ) : (
      <>
        <button type="button" onClick={() => close(false)} className={`${buttonStyle.plain} h-10`}>
          Cancel
        </button>
        <button
          type="button"
          disabled={!data || data.count === 0}
          onClick={() => void run()}
          className={`${buttonStyle.primary} h-10`}
        >
          {data && data.count > 0 ? `Retry ${mails(data.count, data.hasMore)}` : "Retry"}
        </button>
      </>
    );
  return (
    <Dialog
      open={open}
      onOpenChange={close}
      title="Retry all that failed"
      isKept={walk === "under way"}
      footer={footer}
    >
      {walk === "before" ? (
        <>
          <p className="leading-6" role="status">
            {data ? (
              <Announcement {...data} status={filters.status} withUnknown={acceptDuplicates} />
            ) : (
              "Counting…"
            )}
          </p>
          {filters.status === null ? (
            <CheckboxField
              label="Also mail of unknown outcome"
              hint="It may have arrived: whoever has it already gets it twice."
              checked={takesUnknown}
              onChange={({ target }) => setTakesUnknown(target.checked)}
            />
          ) : null}
        </>
      ) : (
        <Progress
          done={done}
          of={data?.hasMore ? null : (data?.count ?? null)}
          isOver={walk === "over"}
          isStopped={isStopped.current}
        />
      )}
      {fault ? <FormFault fault={faultOf(fault)} /> : null}
    </Dialog>
  );
}

type Announced = {
  count: number;
  hasMore: boolean;
  status: EmailFilters["status"];
  withUnknown: boolean;
};

function Announcement({ count, hasMore, status, withUnknown }: Announced) {
  const which =
    status === null
      ? `failed, bounced, ${withUnknown ? "deferred or of unknown outcome" : "or deferred"}`
      : STATUSES[status].label.toLowerCase();
  if (count === 0) return <>Nothing to retry: no mail that the filters find is {which}.</>;
  return (
    <>
      The filters find <strong>{mails(count, hasMore)}</strong> {which}. Each is sent again now to those of
      its recipients who did not get it{withUnknown ? ", or of whom nobody knows" : ""}; whoever has it is not
      written to again. Addresses on the suppression list are left out.
    </>
  );
}

type ProgressProps = { done: Done; of: number | null; isOver: boolean; isStopped: boolean };

function Progress({ done, of, isOver, isStopped }: ProgressProps) {
  const recipients = `${done.recipients.toLocaleString("en")} ${done.recipients === 1 ? "recipient" : "recipients"}`;
  return (
    <div className="flex flex-col gap-3" role="status">
      <progress
        aria-label="Mails that are tried again"
        max={of ?? undefined}
        value={isOver ? (of ?? 1) : of === null ? undefined : Math.min(done.mails, of)}
        className="h-2 w-full accent-accent"
      />
      <p>
        {isOver ? (isStopped ? "Stopped. " : "") : "Working… "}
        {mails(done.mails)} back in the queue, for {recipients}.
      </p>
    </div>
  );
}
