import type { ImportState } from '../../dashboard/imports-shapes.ts';
import type { Boards } from '../../dashboard/outbox.ts';
import { ask } from '../api.ts';
import { fill, h } from '../dom.ts';
import type { Page } from '../page.ts';
import { pageHead } from '../parts.ts';
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
    if (file === null) {
      body.append(await chooseFile(context));
      return;
    }
    const path = `/data/imports/${encodeURIComponent(file)}`;
    const [state, { boards }] = await Promise.all([
      ask<ImportState>(path, { signal: context.signal }),
      ask<Boards>('/data/outbox/boards', { signal: context.signal }),
    ]);
    let isOut = false;
    const draw = (found: ImportState): void => {
      isOut = found.committed !== null;
      if (found.committed) fill(body, ...showProgress(path, found.committed));
      else fill(body, ...showRehearsal({ path, state: found, boards, draw }));
    };
    draw(state);
    onNews(context, async () => {
      if (isOut) draw(await ask<ImportState>(path, { signal: context.signal }));
    });
  },
};
