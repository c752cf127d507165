import type { CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { EditorState, type Extension, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView } from "@codemirror/view";
import { readTags, type Tag } from "./tags";

/** What the template declares already, and where a fault would be of no use to show (plain text has no raw HTML). */
export type Known = { declared: readonly string[]; isHtml: boolean };

/** Tells the editor what is declared now. */
export const setKnown = StateEffect.define<Known>();

const known = StateField.define<Known>({
  create: () => ({ declared: [], isHtml: true }),
  update: (value, { effects }) => effects.find((effect) => effect.is(setKnown))?.value ?? value,
});

const RAW =
  "Raw HTML: the value is put in as it is. Where a stranger can write it, they can change the whole mail. Use {{name}} unless it is HTML that you made.";
const NEW =
  "New: it is declared when you save. Every send must then bring it, unless you give it a fallback.";

/** How a place is marked, and what it says on hover. */
function lookOf(tag: Tag, { declared, isHtml }: Known): { class: string; title: string } {
  if (tag.kind === "fault" || tag.key === null) return { class: "cm-tag-fault", title: tag.fault ?? "" };
  if (tag.kind === "raw" && isHtml) return { class: "cm-tag-raw", title: RAW };
  if (!declared.includes(tag.key)) return { class: "cm-tag cm-tag-new", title: NEW };
  return { class: "cm-tag", title: "A value that each send gives, or its fallback" };
}

const build = (state: EditorState): DecorationSet =>
  Decoration.set(
    readTags(state.doc.toString()).map((tag) => {
      const { class: name, title } = lookOf(tag, state.field(known));
      return Decoration.mark({ class: name, attributes: { title } }).range(tag.from, tag.to);
    }),
  );

const marks = StateField.define<DecorationSet>({
  create: build,
  update: (value, { docChanged, effects, state }) =>
    docChanged || effects.some((effect) => effect.is(setKnown)) ? build(state) : value,
  provide: (field) => EditorView.decorations.from(field),
});

/** Offers the declared names behind two braces. */
function complete(context: CompletionContext): CompletionResult | null {
  const before = context.matchBefore(/\{\{\{?\s*[A-Za-z0-9_]*/);
  if (!before) return null;
  const [opening = "{{"] = /^\{+\s*/.exec(before.text) ?? [];
  const from = before.from + opening.length;
  const closing = opening.startsWith("{{{") ? "}}}" : "}}";
  const behind = context.state.sliceDoc(context.pos, context.pos + 3);
  return {
    from,
    validFor: /^[A-Za-z0-9_]*$/,
    options: context.state.field(known).declared.map((key) => ({
      label: key,
      type: "variable",
      apply: behind.startsWith("}}") ? key : `${key}${closing}`,
    })),
  };
}

/** Marks the places of a template, and offers their names. */
export const placeholders: Extension = [
  known,
  marks,
  EditorState.languageData.of(() => [{ autocomplete: complete }]),
  EditorView.theme({
    ".cm-tag": {
      backgroundColor: "var(--info-tint)",
      color: "var(--info)",
      borderRadius: "3px",
      boxShadow: "0 0 0 1px var(--info-tint)",
    },
    ".cm-tag *": { color: "var(--info)" },
    ".cm-tag-new": { borderBottom: "1px dashed var(--info)" },
    ".cm-tag-raw": {
      backgroundColor: "var(--warn-tint)",
      color: "var(--warn)",
      borderRadius: "3px",
      outline: "1px solid var(--warn)",
    },
    ".cm-tag-raw *": { color: "var(--warn)" },
    ".cm-tag-fault": {
      backgroundColor: "var(--bad-tint)",
      color: "var(--bad)",
      textDecoration: "underline wavy var(--bad)",
      textUnderlineOffset: "3px",
    },
    ".cm-tag-fault *": { color: "var(--bad)" },
  }),
];
