"use client";

import { lazy, Suspense, useState } from "react";
import { SelectField, SubmitButton } from "../../_ui/form";
import { useWhyNot } from "../../_ui/no-right";
import { Section } from "../../_ui/section";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import { daysOf, type Kept, optionsWith, textOf, wordsOf } from "./kept-days";

const ConfirmKeeping = lazy(async () => ({ default: (await import("./confirm-keeping")).ConfirmKeeping }));

/** How long the team's mail is kept. Asked once, since what is taken away does not come back. */
export function RetentionSection({ teamId, kept }: { teamId: string; kept: Kept }) {
  const trpc = useTRPC();
  const whyNot = useWhyNot()("team:write", "change the team");
  const [chosen, setChosen] = useState<Kept | null>(null);
  const [isAsking, setAsking] = useState(false);
  const keeping = useAct(trpc.team.keep.mutationOptions(), {
    done: "Saved",
    refresh: [trpc.team.settings.queryKey()],
    onDone: () => {
      setAsking(false);
      setChosen(null);
    },
  });
  const value = chosen ?? kept;
  const isSame = value.bodiesDays === kept.bodiesDays && value.emailsDays === kept.emailsDays;
  const isCrossed =
    value.bodiesDays !== null && value.emailsDays !== null && value.bodiesDays > value.emailsDays;
  return (
    <Section
      title="How long mail is kept"
      note="Counted from when a mail was accepted. What waits, is held or may still bounce is never touched."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setAsking(true);
        }}
        className="flex max-w-xl flex-col gap-5 px-5 pb-5"
      >
        <SelectField
          label="What mails say"
          hint="Text, HTML and files. The mail stays in the list, with its recipients and its history."
          value={textOf(value.bodiesDays)}
          disabled={whyNot !== undefined}
          onChange={({ target }) => setChosen({ ...value, bodiesDays: daysOf(target.value) })}
        >
          {optionsWith(kept.bodiesDays).map((days) => (
            <option key={textOf(days)} value={textOf(days)}>
              {wordsOf(days)}
            </option>
          ))}
        </SelectField>
        <SelectField
          label="Mails whole"
          hint="With their recipients and everything that happened to them. Numbers of days gone by stay."
          error={isCrossed ? "What mails say is part of them and cannot be kept longer than they are." : null}
          value={textOf(value.emailsDays)}
          disabled={whyNot !== undefined}
          onChange={({ target }) => setChosen({ ...value, emailsDays: daysOf(target.value) })}
        >
          {optionsWith(kept.emailsDays).map((days) => (
            <option key={textOf(days)} value={textOf(days)}>
              {wordsOf(days)}
            </option>
          ))}
        </SelectField>
        <div>
          <SubmitButton disabled={isSame || isCrossed} whyNot={whyNot}>
            Save how long…
          </SubmitButton>
        </div>
      </form>
      <Suspense>
        {isAsking ? (
          <ConfirmKeeping
            kept={value}
            isBusy={keeping.isBusy}
            fault={keeping.fault}
            onConfirm={() => keeping.act({ team: teamId, ...value })}
            onClose={() => {
              setAsking(false);
              keeping.reset();
            }}
          />
        ) : null}
      </Suspense>
    </Section>
  );
}
