"use client";

import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { html } from "@codemirror/lang-html";
import { bracketMatching, indentOnInput } from "@codemirror/language";
import { EditorState, type Extension } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { useEffect, useRef } from "react";
import { editorTheme } from "./editor-theme";
import { placeholders, setKnown } from "./placeholders";

export type EditorProps = {
  /** The accessible name of the editor: "HTML". */
  label: string;
  isHtml: boolean;
  /** The initial text. The editor ignores later values; change its `key` to reset it. */
  initial: string;
  declared: readonly string[];
  isReadOnly: boolean;
  onChange: (text: string) => void;
  /** Called with a function that moves the cursor to a position. */
  onReady: (goTo: (position: number) => void) => void;
};

/**
 * The editor for the HTML or text of a template. Tab moves the focus out of it, as in any field; Ctrl+]
 * indents.
 */
export function CodeMirror({ label, isHtml, initial, declared, isReadOnly, onChange, onReady }: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const change = useRef(onChange);
  change.current = onChange;
  const first = useRef({ label, isHtml, initial, isReadOnly, onReady });

  useEffect(() => {
    if (!host.current) return;
    const { initial: doc, onReady: ready, ...options } = first.current;
    const editor = new EditorView({
      parent: host.current,
      state: EditorState.create({ doc, extensions: extensionsOf(options, (text) => change.current(text)) }),
    });
    view.current = editor;
    ready((position) => {
      editor.dispatch({
        selection: { anchor: Math.min(position, editor.state.doc.length) },
        scrollIntoView: true,
      });
      editor.focus();
    });
    return () => editor.destroy();
  }, []);

  useEffect(() => {
    view.current?.dispatch({ effects: setKnown.of({ declared, isHtml }) });
  }, [declared, isHtml]);

  return <div ref={host} className="h-full min-w-0 overflow-hidden" />;
}

type EditorOptions = Pick<EditorProps, "label" | "isHtml" | "isReadOnly">;

const extensionsOf = (
  { label, isHtml, isReadOnly }: EditorOptions,
  onText: (text: string) => void,
): Extension[] => [
  lineNumbers(),
  highlightActiveLine(),
  highlightActiveLineGutter(),
  highlightSpecialChars(),
  history(),
  drawSelection(),
  indentOnInput(),
  bracketMatching(),
  closeBrackets(),
  autocompletion(),
  EditorView.lineWrapping,
  ...(isHtml ? [html({ autoCloseTags: true })] : []),
  placeholders,
  editorTheme,
  keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap]),
  EditorState.readOnly.of(isReadOnly),
  EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false" }),
  EditorView.updateListener.of(({ docChanged, state }) => {
    if (docChanged) onText(state.doc.toString());
  }),
];
