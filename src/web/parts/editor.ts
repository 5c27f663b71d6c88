import { autocompletion, closeBrackets, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { SQLDialect, SQLite, sql } from '@codemirror/lang-sql';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { Prec } from '@codemirror/state';
import { EditorView, keymap, placeholder } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { ReadableTable } from '../../query/schema.ts';

export interface SqlEditor {
  text(): string;
  /** Instead of what stands there. */
  set(text: string): void;
  /** Where the person writes. */
  insert(word: string): void;
  focus(): void;
  close(): void;
}

interface EditorOptions {
  text: string;
  tables: readonly ReadableTable[];
  /** For Ctrl + Enter. */
  onRun(): void;
}

/** The words of SQLite that a statement can read with; CodeMirror's list for it has those of other databases too, such as REVOKE. */
const KEYWORDS = `
  all and as asc between by case cast collate cross current_date current_time current_timestamp desc distinct else end escape except
  exclude exists explain filter first following from full glob group groups having in indexed inner intersect is isnull join last left
  like limit match materialized natural not notnull null nulls offset on or order others outer over partition plan preceding query range
  recursive regexp right row rows select then ties unbounded union using values when where window with`;
const READING = SQLDialect.define({
  ...SQLite.spec,
  keywords: KEYWORDS.trim().split(/\s+/).join(' '),
  types: 'blob integer numeric real text',
  builtin: '',
});

/**
 * CodeMirror for SQLite with the tables and columns there are. It stands in a shadow root, where it brings its style as a
 * constructed sheet: in the document it would add a style element, which the content security policy refuses.
 */
export function openSqlEditor(element: HTMLElement, { text, tables, onRun }: EditorOptions): SqlEditor {
  const root = element.attachShadow({ mode: 'open', delegatesFocus: true });
  const run = (): boolean => {
    onRun();
    return true;
  };
  const view = new EditorView({
    doc: text,
    root,
    parent: root,
    extensions: [
      Prec.highest(keymap.of([{ key: 'Mod-Enter', run }])),
      history(),
      closeBrackets(),
      bracketMatching(),
      autocompletion({ icons: false }),
      keymap.of([...completionKeymap, ...historyKeymap, ...defaultKeymap]),
      sql({ dialect: READING, schema: schemaOf(tables), upperCaseKeywords: true }),
      syntaxHighlighting(COLORS),
      placeholder('SELECT board, count(*) FROM live_posts GROUP BY board'),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({
        'aria-label': 'Statement',
        spellcheck: 'false',
        autocapitalize: 'off',
      }),
      EditorView.domEventHandlers({ beforeinput: replaceSelected }),
      LOOK,
    ],
  });
  return {
    text: () => view.state.doc.toString(),
    set: (next) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } }),
    insert(word) {
      view.dispatch(view.state.replaceSelection(word));
      view.focus();
    },
    focus: () => view.focus(),
    close: () => view.destroy(),
  };
}

/**
 * Typing over a selection is done here and not by the browser, which would keep the look of the old text in style attributes: the
 * content security policy refuses those, and says so on the console.
 */
function replaceSelected({ inputType, data, isComposing }: InputEvent, view: EditorView): boolean {
  const [from, to] = selectedIn(view);
  if (inputType !== 'insertText' || data === null || isComposing || from === to) return false;
  const selection = { anchor: from + data.length };
  view.dispatch({ changes: { from, to, insert: data }, selection, userEvent: 'input.type' });
  return true;
}

/** What is selected on the page, of which the editor is told a moment later; where the browser cannot say it, what the editor knows. */
function selectedIn(view: EditorView): [from: number, to: number] {
  const { main } = view.state.selection;
  const options = { shadowRoots: [view.root as ShadowRoot] };
  const range = document.getSelection()?.getComposedRanges?.(options)[0];
  if (
    !range ||
    !view.contentDOM.contains(range.startContainer) ||
    !view.contentDOM.contains(range.endContainer)
  )
    return [main.from, main.to];
  return [
    view.posAtDOM(range.startContainer, range.startOffset),
    view.posAtDOM(range.endContainer, range.endOffset),
  ];
}

/** What is offered while somebody types, each column with its meaning beside it. */
function schemaOf(tables: readonly ReadableTable[]) {
  return Object.fromEntries(
    tables.map(({ name, line, columns }) => [
      name,
      {
        self: { label: name, type: 'type', info: line },
        children: Object.entries(columns).map(([label, info]) => ({ label, type: 'property', info })),
      },
    ]),
  );
}

const COLORS = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--accent)', fontWeight: '600' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--second)' },
  { tag: tags.comment, color: 'var(--quiet)', fontStyle: 'italic' },
  { tag: [tags.typeName, tags.standard(tags.name)], color: 'var(--warn)' },
]);

const LOOK = EditorView.theme({
  '&': {
    background: 'var(--surface)',
    color: 'var(--text)',
    border: '1px solid var(--line-strong)',
    borderRadius: '8px',
    fontSize: '0.9rem',
  },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55', maxHeight: '30rem' },
  '.cm-content': { minHeight: '11rem', padding: '0.5rem 0.2rem', caretColor: 'var(--text)' },
  '.cm-placeholder': { color: 'var(--quiet)' },
  '&.cm-focused .cm-matchingBracket': { background: 'var(--accent-soft)' },
  '.cm-tooltip': {
    background: 'var(--surface)',
    color: 'var(--text)',
    border: '1px solid var(--line-strong)',
    borderRadius: '8px',
    overflow: 'hidden',
  },
  '.cm-tooltip.cm-completionInfo': { padding: '0.4rem 0.6rem', maxWidth: '18rem' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    background: 'var(--accent-soft)',
    color: 'var(--text)',
  },
});
