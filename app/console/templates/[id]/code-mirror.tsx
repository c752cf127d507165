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
import { codeLook } from "./look";
import { placeholders, setKnown } from "./placeholders";

export type EditorProps = {
  /** What it edits: "HTML". */
  label: string;
  isHtml: boolean;
  /** What stands in it at first. Later values come from the keyboard alone; another `key` begins anew. */
  initial: string;
  declared: readonly string[];
  isReadOnly: boolean;
  onChange: (text: string) => void;
  /** Lets whoever holds it lead the cursor to a place. */
  onReady: (goTo: (place: number) => void) => void;
};

/** The editor of a template's HTML or text. Tab leaves it, as it leaves every field; Ctrl+] indents. */
export function CodeMirror({ label, isHtml, initial, declared, isReadOnly, onChange, onReady }: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const change = useRef(onChange);
  change.current = onChange;
  const first = useRef({ label, isHtml, initial, isReadOnly, onReady });

  useEffect(() => {
    if (!host.current) return;
    const { initial: doc, onReady: ready, ...given } = first.current;
    const editor = new EditorView({
      parent: host.current,
      state: EditorState.create({ doc, extensions: extensionsOf(given, (text) => change.current(text)) }),
    });
    view.current = editor;
    ready((place) => {
      editor.dispatch({
        selection: { anchor: Math.min(place, editor.state.doc.length) },
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

type Given = Pick<EditorProps, "label" | "isHtml" | "isReadOnly">;

const extensionsOf = ({ label, isHtml, isReadOnly }: Given, onText: (text: string) => void): Extension[] => [
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
  codeLook,
  keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap]),
  EditorState.readOnly.of(isReadOnly),
  EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false" }),
  EditorView.updateListener.of(({ docChanged, state }) => {
    if (docChanged) onText(state.doc.toString());
  }),
];
