import type { LiveStats } from '../../http/dashboard/events.ts';
import { withClockTimes } from '../format.ts';
import { h } from '../h.ts';

type Trouble = LiveStats['troubles'][number];

/** One line of the banner, in the words that the command line and the alerts use too. */
export const troubleRow = ({ symptom, what, since, until, detail, advice, runbook }: Trouble) =>
  h(
    'p.banner',
    { key: symptom, 'data-tone': symptom === 'list-incomplete' ? 'warn' : 'bad' },
    h('b', `${what.charAt(0).toUpperCase()}${what.slice(1)}`),
    withClockTimes(
      `${since === null ? '' : ` since ${since}`}${until === null ? '' : `, until ${until}`}${detail === null ? '' : ` (${detail})`}: ${advice}. `,
    ),
    symptom === 'deletions-held' && [h('a', { href: '/sync' }, 'Sync'), ' '],
    h('a.note', { href: rowIn(runbook) }, 'What to do'),
  );

/** The documents are served as text, where a browser finds words but no anchor. */
function rowIn(runbook: string): string {
  const [page, anchor = ''] = runbook.split('#');
  return `/${page}#:~:text=id%3D%22${anchor.replaceAll('-', '%2D')}%22`;
}
