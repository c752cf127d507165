import type { CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { EditorState, type Extension, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView } from "@codemirror/view";
import { parseTags, type Tag } from "#server/shared/template-tags";
import { variableOf } from "#server/shared/template-variables";

/** The declared variables, and whether the text is HTML. Plain text needs no warning about raw HTML. */
export type Known = { declared: readonly string[]; isHtml: boolean };

/** Updates the declared variables in the editor. */
export const setKnown = StateEffect.define<Known>();

const known = StateField.define<Known>({
  create: () => ({ declared: [], isHtml: true }),
  update: (value, { effects }) => effects.find((effect) => effect.is(setKnown))?.value ?? value,
});

const RAW =
  "Raw HTML: the value is inserted without escaping. If untrusted users control it, they can change the whole email. Use {{name}} unless the value is your own HTML.";
const NEW =
  "New: the variable is declared when you save. Every send must then provide a value, unless you set a fallback.";

const VALUE = "The value from each send, or the fallback";
const IN_LIST = "The field of the item, or the variable with this name";
const BLOCKS = {
  if: "Included if there is a value that is not empty, 0 or false",
  each: "Repeated for each item of the list",
  else: "Included otherwise: without a value, or for an empty list",
  end: "End of the block",
  unsubscribe: "The recipient's own unsubscribe link",
};

/** The CSS class of a placeholder and its text on hover. */
function markOf(tag: Tag, { declared, isHtml }: Known): { class: string; title: string } {
  if (tag.kind === "fault") return { class: "cm-tag-fault", title: tag.fault };
  if (tag.kind === "else" || tag.kind === "end" || tag.kind === "unsubscribe")
    return { class: "cm-tag", title: BLOCKS[tag.kind] };
  if (tag.kind === "raw" && isHtml) return { class: "cm-tag-raw", title: RAW };
  const key = variableOf(tag);
  const isNew = key !== null && !declared.includes(key);
  const title = tag.kind === "if" || tag.kind === "each" ? BLOCKS[tag.kind] : key === null ? IN_LIST : VALUE;
  return isNew ? { class: "cm-tag cm-tag-new", title: NEW } : { class: "cm-tag", title };
}

const build = (state: EditorState): DecorationSet =>
  Decoration.set(
    parseTags(state.doc.toString()).map((tag) => {
      const { class: name, title } = markOf(tag, state.field(known));
      return Decoration.mark({ class: name, attributes: { title } }).range(tag.from, tag.to);
    }),
  );

const marks = StateField.define<DecorationSet>({
  create: build,
  update: (value, { docChanged, effects, state }) =>
    docChanged || effects.some((effect) => effect.is(setKnown)) ? build(state) : value,
  provide: (field) => EditorView.decorations.from(field),
});

/** Completes the names of declared variables after two braces. */
function complete(context: CompletionContext): CompletionResult | null {
  const before = context.matchBefore(/\{\{\{?\s*(?:#(?:if|each)\s+)?[A-Za-z0-9_]*/);
  if (!before) return null;
  const [opening = "{{"] = /^\{+\s*(?:#(?:if|each)\s+)?/.exec(before.text) ?? [];
  const from = before.from + opening.length;
  const closing = opening.startsWith("{{{") ? "}}}" : "}}";
  const following = context.state.sliceDoc(context.pos, context.pos + 3);
  return {
    from,
    validFor: /^[A-Za-z0-9_]*$/,
    options: context.state.field(known).declared.map((key) => ({
      label: key,
      type: "variable",
      apply: following.startsWith("}}") ? key : `${key}${closing}`,
    })),
  };
}

/** Highlights the placeholders of a template and completes their names. */
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
