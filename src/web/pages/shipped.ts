import type { ReportAnswer } from '../../http/dashboard/reports.ts';
import { fetchJson } from '../api.ts';
import { counted } from '../format.ts';
import type { Child, VNode } from '../h.ts';
import { h } from '../h.ts';
import { button, field } from '../parts/controls.ts';
import { openForm, useCopy } from '../parts/dialog.ts';
import { banner } from '../parts/layout.ts';
import type { Outcome } from '../parts/load.ts';

interface TellOptions extends Pick<Outcome, 'say' | 'attempt'> {
  answer: ReportAnswer;
  reload(): Promise<void>;
}

/** What a person does with the list of those who asked for what was delivered: writes to them, and notes that they know. */
export function TellPeople({ answer, say, attempt, reload }: TellOptions): Child {
  const { said: copied, copy } = useCopy();
  const { rows, people = [] } = answer;
  if (rows.length === 0) return null;
  const addresses = rows.map(({ email }) => String(email)).join(', ');
  const copyAll = (): Promise<void> =>
    copy(addresses, `${counted(rows.length, 'address', 'addresses')} copied`);
  const told = rows.map(({ post_ids: ids }, i) => ({
    user: people[i] ?? 0,
    posts: String(ids).split(' ').map(Number),
  }));
  return [
    button(copied ?? 'Copy addresses', () => void attempt(copyAll), { id: 'copy-addresses' }),
    button('Mark as told', () => askWho(told, say, reload), { id: 'mark-told' }),
  ];
}

/** The browser keeps the name of who marks people, for the next time. */
const WHO = 'told-by';

type Told = { user: number; posts: number[] }[];

function askWho(people: Told, say: (words: VNode) => void, reload: () => Promise<void>): void {
  const who = counted(people.length, 'person', 'people');
  openForm({
    title: `Mark ${who} as told?`,
    content: [
      h('p', 'They leave this list. They come back if a post of theirs is delivered again.'),
      field(
        'Your name',
        h('input', { id: 'field-by', name: 'by', value: localStorage.getItem(WHO) ?? '', maxLength: 100 }),
      ),
    ],
    action: 'Mark as told',
    async run(fields) {
      const by = String(fields.get('by') ?? '').trim();
      localStorage.setItem(WHO, by);
      await fetchJson('/data/shipped/told', { body: { people, ...(by && { by }) } });
      say(banner('good', `Marked ${who} as told.`));
      await reload();
    },
  });
}
