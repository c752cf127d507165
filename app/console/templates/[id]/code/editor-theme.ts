import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const style = HighlightStyle.define([
  { tag: [tags.tagName, tags.angleBracket], color: "var(--accent)" },
  { tag: [tags.attributeName, tags.propertyName], color: "var(--mute)" },
  { tag: [tags.attributeValue, tags.string, tags.number, tags.unit, tags.color], color: "var(--good)" },
  { tag: [tags.comment, tags.documentMeta, tags.processingInstruction], color: "var(--soft)" },
  { tag: [tags.keyword, tags.atom, tags.operatorKeyword], color: "var(--info)" },
  { tag: tags.invalid, color: "var(--bad)" },
]);

/** The editor theme. Its colors are CSS variables, so they follow the theme of the console. */
export const editorTheme: Extension = [
  syntaxHighlighting(style),
  EditorView.theme({
    "&": { height: "100%", fontSize: "13px", backgroundColor: "var(--page)", color: "var(--ink)" },
    "&.cm-focused": { outline: "none" },
    ".cm-scroller": { fontFamily: "var(--font-mono, ui-monospace, monospace)", lineHeight: "1.6" },
    ".cm-content": { padding: "10px 0", caretColor: "var(--ink)" },
    ".cm-gutters": {
      backgroundColor: "var(--page)",
      color: "var(--soft)",
      border: "none",
      paddingRight: "4px",
    },
    ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--sunk)" },
    ".cm-cursor": { borderLeftColor: "var(--ink)" },
    "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
      backgroundColor: "color-mix(in srgb, var(--accent) 22%, transparent)",
    },
    ".cm-matchingBracket": { backgroundColor: "var(--mute-tint)", color: "inherit" },
    ".cm-tooltip": {
      backgroundColor: "var(--page)",
      color: "var(--ink)",
      border: "1px solid var(--line)",
      borderRadius: "8px",
      overflow: "hidden",
    },
    ".cm-tooltip-autocomplete ul li[aria-selected]": {
      backgroundColor: "var(--mute-tint)",
      color: "var(--ink)",
    },
    ".cm-changedLine": { backgroundColor: "var(--good-tint) !important" },
    ".cm-deletedChunk": { backgroundColor: "var(--bad-tint) !important", color: "var(--ink)" },
    ".cm-changedText": { background: "color-mix(in srgb, var(--good) 26%, transparent) !important" },
    ".cm-deletedText, .cm-deletedChunk .cm-deletedText": {
      background: "color-mix(in srgb, var(--bad) 26%, transparent) !important",
    },
    ".cm-collapsedLines": { background: "var(--sunk)", color: "var(--soft)", padding: "4px 12px" },
  }),
];
