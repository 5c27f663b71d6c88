import type { ImportState } from '../../dashboard/imports-shapes.ts';
import type { Boards } from '../../dashboard/outbox.ts';
import { ask, Refused } from '../api.ts';
import { fill, h } from '../dom.ts';
import type { Page, PageContext } from '../page.ts';
import { banner, pageHead } from '../parts.ts';
import { onNews } from '../refresh.ts';
import { chooseFile } from './import-choose.ts';
import { showProgress } from './import-progress.ts';
import { showRehearsal } from './import-rehearsal.ts';

/** Choose a file, see what it would do, import it, and watch it go out. Which file it is, stands in the address. */
export const page: Page = {
  title: 'Import',
  async show(context) {
    const file = context.url.searchParams.get('file');
    const body = h('div', { class: 'stacked' });
    context.root.append(
      pageHead('Import a CSV', 'Nothing is sent before you have seen what would happen.'),
      body,
    );
    if (file === null) body.append(await chooseFile(context));
    else await showFile(context, `/data/imports/${encodeURIComponent(file)}`, body);
  },
};

/** The file as far as somebody has come with it; where it is no longer there, that is said above the place to choose it again. */
async function showFile(context: PageContext, path: string, body: HTMLElement): Promise<void> {
  const load = (): Promise<ImportState> => ask(path, { signal: context.signal });
  let state: ImportState;
  try {
    state = await load();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    body.append(banner('warn', error.message), await chooseFile(context));
    return;
  }
  const { boards } = await ask<Boards>('/data/outbox/boards', { signal: context.signal });
  const draw = (found: ImportState): void => {
    state = found;
    if (found.committed) fill(body, ...showProgress(path, found.committed));
    else fill(body, ...showRehearsal({ path, state: found, boards, draw }));
  };
  draw(state);
  onNews(context, async () => {
    if (state.committed) draw(await load());
  });
}
