import { render } from 'preact';
import type { SourcesAnswer } from '../../sources/site.ts';
import { fetchJson } from '../api.ts';
import { h } from '../h.ts';
import { ownSource } from '../mount.ts';

/** Where the name of the source stands: a choice of all of them, and the overview. Left as it is where there is one. */
export async function startSwitcher(): Promise<void> {
  const [own, place] = [ownSource(), document.querySelector('.source')];
  if (own === null || !place) return;
  const { sources } = await fetchJson<SourcesAnswer>('/data/sources');
  if (sources.length < 2) return;
  const options = sources.map(({ name, ready }) =>
    h('option', { value: `/s/${name}/`, selected: name === own }, ready ? name : `${name} (not ready)`),
  );
  const onChange = ({ currentTarget }: { currentTarget: EventTarget | null }): void => {
    if (currentTarget instanceof HTMLSelectElement) location.assign(currentTarget.value);
  };
  place.replaceChildren();
  render(
    h(
      'label.field',
      'Source',
      h('select', { id: 'source', onChange }, ...options, h('option', { value: '/' }, 'All sources')),
    ),
    place,
  );
}
